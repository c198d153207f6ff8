#include "common/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/measure/roofline.hpp"
#include "common/report/text_table.hpp"
#include "common/report/verdict.hpp"

namespace gemm {
namespace {

std::string speed(double gflops) {
  return gflops >= 100 ? fmt::format("{:.0f}", gflops) : fmt::format("{:.3g}", gflops);
}

}  // namespace

std::string table(const std::vector<Result>& results, const std::optional<Ceilings>& ceilings, bool colour) {
  const auto paint = [&](const Result& result, const std::string& text) {
    if (!colour) return text;
    const char* code = result.verdict.outcome == Outcome::pass   ? "32"
                       : result.verdict.outcome == Outcome::skip ? "33"
                                                                 : "31";
    return fmt::format("\033[{}m{}\033[0m", code, text);
  };
  const bool timed = std::ranges::any_of(results, [](const Result& r) { return r.timed.has_value(); });
  TextTable table(timed ? std::vector<Column>{{{"stage"}},
                                              {{"ms"}, true},
                                              {{"GFLOP/s"}, true},
                                              {{"back to back"}, true, 1},
                                              {{"% cuBLAS"}, true},
                                              {{"% roofline"}, true},
                                              {{"max error"}, true, 2},
                                              {{""}},
                                              {{"bound by, as written"}, false, 1}}
                        : std::vector<Column>{{{"stage"}},
                                              {{"correct"}},
                                              {{"max error"}, true},
                                              {{"blocks"}, true, 1},
                                              {{"threads"}, true, 1},
                                              {{"predicted bound, at most"}, false, 2}});
  for (const Result& result : results) {
    const std::string status = paint(result, status_of(result));
    if (result.verdict.outcome != Outcome::pass) {
      table.add({result.id, status, result.verdict.reason});
      continue;
    }
    const std::string error =
        result.checked
            ? fmt::format("{:.3f}", std::max(result.verdict.error.max_ratio, result.verdict.error.frobenius_ratio))
            : "-";
    if (timed && result.timed) {
      const auto percent = result.percent_of_yardstick();
      const auto roofline = result.percent_of_roofline(ceilings);
      table.add({result.id, fmt::format("{:.4f}", result.timed->own.median()), speed(result.gflops()),
                 result.timed->back_to_back ? speed(result.back_to_back_gflops()) : "",
                 percent ? fmt::format("{:.1f}", *percent) : "100", roofline ? fmt::format("{:.1f}", *roofline) : "-",
                 error, status, bound_of(result, ceilings) + (result.timed->own.throttled ? " [throttled]" : "")});
    } else {
      unsigned threads = 0;
      for (const LaunchRecord& l : result.verdict.launches)
        threads = std::max(threads, l.shape.block.x * l.shape.block.y * l.shape.block.z);
      std::string bound;
      if (result.counts) {
        const CountedBound counted = result.counted_bound();
        bound = fmt::format("{}: {:.3g} cycles/{}, {:.3g} % of {} peak", counted.by, counted.cycles, counted.step,
                            100 * counted.share_of_peak, counted.peak);
      }
      std::vector<std::string> cells = {
          result.id, status, error, std::to_string(result.blocks()), std::to_string(threads), bound};
      if (timed) cells = {result.id, status, "not timed"};
      table.add(std::move(cells));
    }
  }
  return table.text();
}

}  // namespace gemm

#include "common/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/measure/roofline.hpp"
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
  std::size_t width = 5;
  for (const Result& result : results) width = std::max(width, result.id.size());

  const bool timed = std::ranges::any_of(results, [](const Result& r) { return r.timed.has_value(); });
  std::string text = timed
                         ? fmt::format("{:<{}}  {:>9}  {:>9}  {:>8}  {:>10}  {:>9}  {:<4}  {}\n", "stage", width, "ms",
                                       "GFLOP/s", "% cuBLAS", "% roofline", "max error", "", "bound by, as written")
                         : fmt::format("{:<{}}  {:<9}  {:>9}  {:>10}  {:>8}  {}\n", "stage", width, "correct",
                                       "max error", "blocks", "threads", "predicted bound, at most");
  for (const Result& result : results) {
    const std::string status = paint(result, fmt::format("{:<4}", status_of(result)));
    if (result.verdict.outcome != Outcome::pass) {
      text += fmt::format("{:<{}}  {}  {}\n", result.id, width, status, result.verdict.reason);
      continue;
    }
    const std::string error =
        result.checked
            ? fmt::format("{:.3f}", std::max(result.verdict.error.max_ratio, result.verdict.error.frobenius_ratio))
            : "-";
    if (timed && result.timed) {
      const auto percent = result.percent_of_yardstick();
      const auto roofline = result.percent_of_roofline(ceilings);
      text += fmt::format("{:<{}}  {:>9.4f}  {:>9}  {:>8}  {:>10}  {:>9}  {}  {}{}\n", result.id, width,
                          result.timed->own.median(), speed(result.gflops()),
                          percent ? fmt::format("{:.1f}", *percent) : "100",
                          roofline ? fmt::format("{:.1f}", *roofline) : "-", error, status, bound_of(result, ceilings),
                          result.timed->own.throttled ? " [throttled]" : "");
    } else {
      unsigned threads = 0;
      for (const LaunchRecord& l : result.verdict.launches)
        threads = std::max(threads, l.shape.block.x * l.shape.block.y * l.shape.block.z);
      std::string bound;
      if (result.counts) {
        const CountedBound counted = counted_bound(*result.counts);
        bound = fmt::format("{}: {:.3g} cycles/{}, {:.3g} % of {} peak", counted.by, counted.cycles, counted.step,
                            100 * counted.share_of_peak, counted.peak);
      }
      text += fmt::format("{:<{}}  {}       {:>9}  {:>10}  {:>8}  {}\n", result.id, width, status, error,
                          result.blocks(), threads, bound);
    }
  }
  return text;
}

}  // namespace gemm

#include "common/check/wasted_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/check/properties.hpp"
#include "common/check/stage_run.hpp"
#include "common/check/workbench.hpp"

namespace gemm {
namespace {

constexpr int SIDE = 32, DEEPEST = 64;  // C is SIDE x SIDE; the deepest k-tile that is tried

struct Work {
  double multiply_adds = 0;              // on zeros, too
  std::uint64_t stored = 0;              // bytes that were written to shared memory
  std::string multiplied_at, stored_at;  // where most of both is done
};

// The line with the most of something, "" if none has any.
template <class Amount>
std::string busiest(const std::vector<LineCounts>& lines, const Amount& amount) {
  const auto most = std::ranges::max_element(lines, {}, amount);
  if (most == lines.end() || most->file.empty() || amount(*most) == decltype(amount(*most))()) return "";
  return fmt::format("{}:{}", most->file, most->line);
}

// Nothing if it can't be counted. `lines`: says where, too.
std::optional<Work> work_of(const Stage& stage, int k, bool lines = false) {
  ProblemSpec spec = box(SIDE, SIDE, k);
  spec.type = stage.type.value_or(spec.type);
  Workbench bench(spec);
  bench.reset_output();
  const StageRun run = run_apart(contender(stage), bench.problem());
  if (!run.ended.empty() || !run.status || !run.observation.defects.empty()) return std::nullopt;
  const std::optional<Counts> counts = counts_of(run.observation);
  if (!counts || counts->flops() == 0) return std::nullopt;
  Work work{counts->flops() / 2, counts->shared_store.bytes, "", ""};
  if (lines) {
    const std::vector<LineCounts> of_lines = line_counts_of(run.observation);
    // Multiply-adds of Tensor Cores have no lines, but what they multiply is loaded on some.
    work.multiplied_at = busiest(of_lines, [](const LineCounts& line) {
      return std::pair(line.counts.fma32.value_or(0) + line.counts.fma64.value_or(0), line.counts.shared_load.lanes);
    });
    work.stored_at = busiest(of_lines, [](const LineCounts& line) { return line.counts.shared_store.bytes; });
  }
  return work;
}

std::string at(const std::string& line) {
  return line.empty() ? "" : " at " + line;
}

}  // namespace

std::optional<std::string> wasted_pass(const Stage& stage) {
  if (stage.op != Operation::gemm) return std::nullopt;
  const std::optional<Work> once = work_of(stage, 1);
  if (!once) return std::nullopt;
  const auto more_than = [&stage](double work, int k) {
    return work_of(stage, k).value_or(Work()).multiply_adds > work;
  };
  // The first k that takes more work than k = 1: the work only grows with k.
  int few = 1, many = 2;
  while (many <= DEEPEST && !more_than(once->multiply_adds, many)) few = std::exchange(many, 2 * many);
  if (many > DEEPEST) return "";
  while (many - few > 1) {
    const int middle = (few + many) / 2;
    (more_than(once->multiply_adds, middle) ? many : few) = middle;
  }
  // A loop that leaves out the last steps has made no pass at all for k = 1, only an FMA or two for each stored element.
  if (once->multiply_adds < SIDE * SIDE * many) return "";
  // Passes of T steps each: right are a second one from k = T + 1 on and a third from 2 T + 1 on. If these begin at T and 2 T,
  // the loop makes a pass at k0 = k.
  const Work twice = work_of(stage, many, true).value_or(Work());
  if (!more_than(twice.multiply_adds, 2 * many - 1) && more_than(twice.multiply_adds, 2 * many)) {
    return fmt::format(
        "{} x {} x {}: {:.0f} multiply-adds are made{}, as many as for {} steps of k, and {:.0f} "
        "would do: the loop over k makes a pass too many, on zeros. Does it go on while k0 <= k, and not k0 < k?",
        SIDE, SIDE, many, twice.multiply_adds, at(twice.multiplied_at), many + 1, once->multiply_adds);
  }
  // A second k-tile that is copied for k = T, but neither for T - 1 nor multiplied.
  const int tile = many - 1;
  if (tile == 1) return "";
  const Work less = work_of(stage, tile - 1).value_or(Work()), whole = work_of(stage, tile, true).value_or(Work());
  if (less.stored >= whole.stored || whole.stored != twice.stored) return "";
  return fmt::format(
      "{} x {} x {}: {} bytes are written to shared memory{}, as many as for {} steps of k, and {} would do: "
      "a k-tile behind the last one is copied, and nobody multiplies it. Is the next one copied if k0 + {} <= k, and "
      "not < k?",
      SIDE, SIDE, tile, whole.stored, at(whole.stored_at), many, less.stored, tile);
}

}  // namespace gemm

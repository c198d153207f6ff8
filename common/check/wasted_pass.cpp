#include "common/check/wasted_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/check/properties.hpp"
#include "common/check/stage_run.hpp"
#include "common/check/workbench.hpp"

namespace gemm {
namespace {

constexpr int SIDE = 32, DEEPEST = 64;  // C is SIDE x SIDE; the deepest k-tile that is tried

// Where most multiply-adds are made; those of Tensor Cores have no lines, but what they multiply is loaded on some.
std::string busiest_line(const Observation& observation) {
  const std::vector<LineCounts> lines = line_counts_of(observation);
  const auto work = [](const LineCounts& line) {
    return std::pair(line.counts.fma32.value_or(0) + line.counts.fma64.value_or(0), line.counts.shared_load.lanes);
  };
  const auto most = std::ranges::max_element(lines, {}, work);
  if (most == lines.end() || most->file.empty() || work(*most) == std::pair<std::uint64_t, std::uint64_t>()) return "";
  return fmt::format("{}:{}", most->file, most->line);
}

// What is multiplied and added, on zeros, too. Nothing if it can't be counted. `line`: where.
std::optional<double> multiply_adds(const Stage& stage, int k, std::string* line = nullptr) {
  ProblemSpec spec = box(SIDE, SIDE, k);
  spec.type = stage.type.value_or(spec.type);
  Workbench bench(spec);
  bench.reset_output();
  const StageRun run = run_apart(contender(stage), bench.problem());
  if (!run.ended.empty() || !run.status || !run.observation.defects.empty()) return std::nullopt;
  const std::optional<Counts> counts = counts_of(run.observation);
  if (!counts || counts->flops() == 0) return std::nullopt;
  if (line) *line = busiest_line(run.observation);
  return counts->flops() / 2;
}

}  // namespace

std::optional<std::string> wasted_pass(const Stage& stage) {
  if (stage.op != Operation::gemm) return std::nullopt;
  const std::optional<double> once = multiply_adds(stage, 1);
  if (!once) return std::nullopt;
  const auto more_than = [&stage](double work, int k) { return multiply_adds(stage, k).value_or(0) > work; };
  // The first k that takes more work than k = 1: the work only grows with k.
  int few = 1, many = 2;
  while (many <= DEEPEST && !more_than(*once, many)) few = std::exchange(many, 2 * many);
  if (many > DEEPEST) return "";
  while (many - few > 1) {
    const int middle = (few + many) / 2;
    (more_than(*once, middle) ? many : few) = middle;
  }
  // A loop that leaves out the last steps has made no pass at all for k = 1, only an FMA or two for each stored element.
  if (*once < SIDE * SIDE * many) return "";
  // Passes of T steps each: right are a second one from k = T + 1 on and a third from 2 T + 1 on. If these begin at T and 2 T,
  // the loop makes a pass at k0 = k.
  std::string line;
  const double twice = multiply_adds(stage, many, &line).value_or(0);
  if (more_than(twice, 2 * many - 1) || !more_than(twice, 2 * many)) return "";
  return fmt::format(
      "{} x {} x {}: {:.0f} multiply-adds are made{}, as many as for {} steps of k, and {:.0f} "
      "would do: the loop over k makes a pass too many, on zeros. Does it go on while k0 <= k, and not k0 < k?",
      SIDE, SIDE, many, twice, line.empty() ? "" : " at " + line, many + 1, *once);
}

}  // namespace gemm

#include "common/measure/declared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/check/contender.hpp"
#include "common/measure/evaluate.hpp"
#include "common/measure/roofline.hpp"

namespace gemm {

std::string declared_wrongly(const Stage& stage, const ProblemSpec& spec) {
  EvaluateOptions options;
  options.time = false;
  options.count = true;
  const Result result = evaluate({contender(stage)}, spec, options, {})[0];
  if (!result.counts) return result.verdict.reason;
  const L1Cycles declared = l1_cycles(stage, spec);
  const double counted = counted_bound(*result.counts).cycles;
  const double least = std::max(declared.sum(), cycles_per_warp_fma);
  double most = 1.15;
  if (declared.global == 0) {
    most = 1.5;
    const double loads = result.counts->shared_load.wavefronts * 32.0 / result.counts->fmas();
    // 17b: workers start anew in a tile. 18: a misaligned C goes through shared memory, a word for k FMAs.
    const double out = spec.n % 4 == 0 ? 0.0 : 1.0 / spec.k;
    if (!(std::abs(loads - declared.shared) <= 0.03 * declared.shared + out)) {
      return fmt::format("declares {:.3g} cycles of loads from shared memory for a warp-wide FMA, counted are {:.3g}",
                         declared.shared, loads);
    }
  }
  if (counted <= most * least && counted >= 0.99 * least) return {};
  return fmt::format("declares {:.3g} cycles of L1 and shared memory for a warp-wide FMA, counted are {:.3g}", least,
                     counted);
}

std::string chosen_wrongly(const Stage& stage, const ProblemSpec& spec) {
  EvaluateOptions options;
  options.time = options.exact = false;
  const Verdict verdict = evaluate({contender(stage)}, spec, options, {})[0].verdict;
  if (verdict.outcome != Outcome::pass) return verdict.reason;
  if (verdict.policy == stage.emulation.usual) return {};
  return fmt::format("declares {} for numbers of one size, but takes {}", stage.emulation.usual, verdict.policy);
}

}  // namespace gemm

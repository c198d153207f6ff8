// What a result would be if a kernel had one of the usual mistakes.
#pragma once

#include <vector>

#include "common/check/hypothesis.hpp"

namespace gemm {

/// Those worth a try, the simplest first. `wrong` are some elements that are wrong; what holds of them narrows the choice down.
/// The solved problem must outlive them.
std::vector<Hypothesis> hypotheses(const SolvedProblem& solved, const std::vector<Element>& wrong);

}  // namespace gemm

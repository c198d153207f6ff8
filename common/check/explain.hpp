// What a wrong result comes from. Each hypothesis about the kernel (beta is missing, the last steps of k are, a matrix is read
// with another row stride) says what every element of the result would then be, on whole numbers exactly; one that says so of
// all wrong elements is told, and where none does, nothing is.
#pragma once

#include <string>
#include <vector>

#include "common/check/compare.hpp"
#include "common/check/contender.hpp"
#include "common/problem/spec.hpp"

namespace gemm {

/// Launches the contender anew, on the same problem with whole numbers everywhere, between rows and around the matrices, too.
/// Returns sentences; none if no hypothesis fits, or if the problem is too large to try. Throws DeviceError. `seen`: what was
/// wrong with the numbers of the problem, and with traps around the matrices.
std::vector<std::string> explain(const ProblemSpec& spec, const Contender& contender, const Comparison* seen = nullptr);

}  // namespace gemm

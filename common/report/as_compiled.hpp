// What nvcc makes of a stage's kernels, beside what was counted.
#pragma once

#include <string>

#include "common/problem/registry.hpp"

namespace gemm {

/// What nvcc makes of the stage's kernels, if it is on this machine: registers, and the hot loop's loads, some of which
/// nvcc may have merged. Says so if there is none, or if this program was built where there was none.
std::string as_compiled(const Stage& stage);

/// Tells as_compiled() how: a static object of programs that can read machine code (compiled_details.cpp).
struct DetailsOfCompiled {
  explicit DetailsOfCompiled(std::string (*details)(const Stage&));
};

}  // namespace gemm

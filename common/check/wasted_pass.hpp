// A loop over k with a pass too many, on zeros, or a k-tile that is copied and not multiplied: the result is right, and the
// time of a k-tile is wasted.
#pragma once

#include <optional>
#include <string>

#include "common/problem/registry.hpp"

namespace gemm {

/// Counts multiply-adds and stores to shared memory of a stage of GEMM at several k. A tile of T steps should need a second
/// pass, and a second copy, from k = T + 1 on. Empty if it does, else the k from which there is one more, and what is wasted. Nothing where it can't be told: on a GPU, where the build
/// counts no FMAs, or if the stage refuses the problem. Throws DeviceError.
std::optional<std::string> wasted_pass(const Stage& stage);

}  // namespace gemm

// Offsets of more than 2^31 elements, without the memory that they would take.
#pragma once

#include <optional>
#include <string>

#include "common/problem/registry.hpp"

namespace gemm {

/// Solves a small problem three times, each time with the rows of one of its matrices so far apart that a third of them lies
/// past 2^31 elements: an index of 32 bits ends elsewhere. Empty if all is right, else what is not; nothing where it can't be tried,
/// on a GPU or with too few addresses.
std::optional<std::string> wrong_far_offset(const Stage& stage);

}  // namespace gemm

// Offsets of more than 2^31 elements, without the memory that they would take, and matrices of a batch that lie apart.
#pragma once

#include <optional>
#include <string>

#include "common/problem/registry.hpp"

namespace gemm {

/// Solves a small problem three times, each time with the rows of one of its matrices so far apart that a third of them lies
/// past 2^31 elements: an index of 32 bits ends elsewhere. Empty if all is right, else what is not; nothing where it can't be tried,
/// on a GPU or with too few addresses.
std::optional<std::string> wrong_far_offset(const Stage& stage);

/// A batch whose matrices lie apart, with rows between them that belong to none. As above; nothing of a stage that takes no batch.
std::optional<std::string> wrong_batch_stride(const Stage& stage);

}  // namespace gemm

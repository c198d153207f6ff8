// What the models of both products' kernels for FP64 Tensor Cores share.
#pragma once

#include <algorithm>

#include "tsm/generated/model.hpp"

namespace gemm::generated {

/// Multiply-adds of real numbers that an SM of sm_90 does in a cycle by Tensor Cores.
inline constexpr double tensor_fmas_a_cycle = 128;

/// A factor for kernels that want more registers than there are: nvcc does with some less, `spared`.
inline double crowding(int registers, int threads, int spared = 24) {
  const int there = std::min(most_registers, registers_of_sm / threads / 8 * 8);
  return registers <= there ? 1 : registers - spared <= there ? 1.02 : too_many_registers;
}

}  // namespace gemm::generated

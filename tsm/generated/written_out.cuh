// Loops whose index is a constant in each round.
#pragma once

#include <cuda_runtime.h>

namespace gemm::generated {

/// each(0), ..., each(count - 1), written out even where nvcc takes the loop for too long and ignores #pragma unroll: with
/// an index that it doesn't know, arrays lie in memory.
template <int count, class Each>
__device__ __forceinline__ void for_each_below(const Each& each) {
  if constexpr (count > 0) {
    for_each_below<count - 1>(each);
    each(count - 1);
  }
}

}  // namespace gemm::generated

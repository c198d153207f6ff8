// Sums over a whole grid without atomics: each block leaves one partial result, the host adds them up.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace gemm {

inline constexpr int reduce_threads = 256;

/// Enough blocks to keep a GPU busy, few enough that the host adds them up at once. Kernels stride over the rest.
inline unsigned reduce_blocks(std::int64_t items) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((items + reduce_threads - 1) / reduce_threads, 1, 1024));
}

/// Folds one value per thread into one per block: combine(into, from) for all threads, result in thread 0.
/// `scratch` is shared memory for reduce_threads values; every thread of the block must call this.
template <class T, class Combine>
__device__ T block_reduce(T mine, T* scratch, Combine combine) {
  scratch[threadIdx.x] = mine;
  __syncthreads();
  for (int half = reduce_threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) combine(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  return scratch[0];
}

}  // namespace gemm

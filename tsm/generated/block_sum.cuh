// The sums of a block's slices, added up in shared memory.
#pragma once

#include <cuda_runtime.h>

#include "common/kernel/complex.cuh"
#include "tsm/generated/slices.cuh"

namespace gemm::generated {

/// Slices of `slice_threads` threads, `count` of them, each thread with a tile of sums: afterwards the first slice has
/// the sums over all; or, if `by_twos`, those of every second slice, and the second slice the other ones. `shared` has
/// room for the sums of `stored` slices. All threads of the block must call it, those behind the last slice, too.
template <int slice_threads, int count, int stored, bool by_twos = false, class T, int TM, int TN>
__device__ void add_up_slices(T (&sum)[TM][TN], int slice, int place, T* shared) {
  T* const kept = shared + place;
  constexpr int distance = stored * slice_threads;  // from an element of the tile to the next
#pragma unroll 1
  for (int active = count; active > (by_twos ? 2 : 1);) {
    // The upper slices give their sums to the lower ones, to the first or to the second and those behind it.
    const int giving = smaller((by_twos ? active - 1 : active) / 2, stored);
    active -= giving;
    const int taker = by_twos ? active % 2 : 0;
    if (slice >= active && slice < active + giving) {
#pragma unroll
      for (int i = 0; i < TM * TN; ++i) kept[i * distance + (slice - active) * slice_threads] = sum[i / TN][i % TN];
    }
    __syncthreads();
    if (slice >= taker && slice < taker + giving) {
#pragma unroll
      for (int i = 0; i < TM * TN; ++i)
        sum[i / TN][i % TN] = add(sum[i / TN][i % TN], kept[i * distance + (slice - taker) * slice_threads]);
    }
    __syncthreads();  // before they are overwritten
  }
}

}  // namespace gemm::generated

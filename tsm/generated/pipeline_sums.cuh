// The end of tsm/10's kernel: the sums of a block's slices are added up in shared memory and stored.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "tsm/generated/block_sum.cuh"
#include "tsm/generated/places.cuh"
#include "tsm/generated/stream.cuh"

namespace gemm::generated {

/// Stores the block's sums, M x N of them, to its part of `partial`. A, B: the panels of both matrices' rows. `shared`
/// has so many bytes, which nobody reads or copies to any more once copies are waited for.
template <class A, class B, Places places, int slices, int bytes, class T, int TM, int TN>
__device__ void store_sums_of_block(T (&sum)[TM][TN], int slice, int place, unsigned char* shared, T* partial) {
  constexpr int M = A::width, N = B::width;
  constexpr bool shifted = A::shifted || B::shifted;
  const int at_m = places.row(place), at_n = places.col(place);
  // What a thread does with its sums, each at its element's place in a matrix C.
  enum class Does { stores, adds_what_is_there };
  const auto each = [&](T* c, Does what) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int row = (at_m + i / A::unit * places.along_m) * A::unit + i % A::unit + A::before(slice);
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        const int col = (at_n + j / B::unit * places.along_n) * B::unit + j % B::unit + B::before(slice);
        const bool exists = (!A::shifted || row >= 0) && row < M && (!B::shifted || col >= 0) && col < N;
        if (!exists) continue;
        if (what == Does::stores)
          c[row * N + col] = sum[i][j];
        else
          sum[i][j] = add(sum[i][j], c[row * N + col]);
      }
    }
  };
  if constexpr (slices > 1) {
    ptx::cp_async_wait<0>();
    __syncthreads();  // nobody reads or fills stages any more
    constexpr int fit = bytes / static_cast<int>(places.count * TM * TN * sizeof(T));
    static_assert(fit >= 1);
    T* const kept = reinterpret_cast<T*>(shared);
    add_up_slices<places.count, slices, smaller(slices / 2, fit), shifted>(sum, slice, place, kept);
    if constexpr (shifted) {  // the first slice and the second have different elements
      if (slice == 1) each(kept, Does::stores);
      __syncthreads();
      if (slice == 0) each(kept, Does::adds_what_is_there);
    }
  }
  if (slice > 0) return;
  each(partial + static_cast<std::int64_t>(blockIdx.x) * (M * N), Does::stores);
}

}  // namespace gemm::generated

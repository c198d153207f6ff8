// Kernels that compute something wrong on purpose, to see what bounds the right one. They do all the loads and all the
//         FMAs of
// tsm/09's kernel (tiles of interleaved columns, the next row loaded ahead), but add up into a few sums in place of a
// tile.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/walk.cuh"

namespace gemm::probes {

/// A launch of it.
template <class T>
using Incorrect = void(std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* out);

/// Each thread's sums over its tile and its rows, added up: grid x threads of them in `out`. That is all that is right
/// of them: together they are the sum over all elements of A^T B. sums = 0: a sum for each element of the tile, as a
/// right kernel has; else so many, which take turns.
template <class T, int M, int N, int TM, int TN, int sums, int threads>
__global__ void __launch_bounds__(threads) incorrect(std::int64_t k, const T* __restrict__ a, std::int64_t lda,
                                                     const T* __restrict__ b, std::int64_t ldb, T* __restrict__ out) {
  using ColumnsA = generated::Columns<M, TM, true>;
  using ColumnsB = generated::Columns<N, TN, true>;
  static_assert(M % TM == 0 && N % TN == 0);
  constexpr int slice_threads = ColumnsA::threads * ColumnsB::threads, slices = threads / slice_threads;
  constexpr int kept = sums == 0 ? TM * TN : sums;
  static_assert(slices >= 1);
  const int slice = threadIdx.x / slice_threads, place = threadIdx.x % slice_threads;
  const ColumnsA mine_a(place / ColumnsB::threads);
  const ColumnsB mine_b(place % ColumnsB::threads);

  T sum[kept] = {};
  const auto multiply = [&](const generated::LoadedRows<T, TM, TN, 1>& x) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        T& s = sum[(i * TN + j) % kept];
        s = multiply_add(x.a[0][i], x.b[0][j], s);
      }
    }
  };
  if (slice < slices) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * slices;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * slices + slice;
    std::int64_t rounds = first < k ? (k - first + stride - 1) / stride : 0;
    generated::Walk<T, ColumnsA, ColumnsB> walk{
        mine_a, mine_b, a + first * lda + mine_a.first, b + first * ldb + mine_b.first, stride * lda, stride * ldb};
    if (rounds > 0) {
      generated::LoadedRows<T, TM, TN, 1> x, y;
      walk.load(x);
#pragma unroll 1
      for (; rounds > 2; rounds -= 2) {
        walk.load(y);
        multiply(x);
        walk.load(x);
        multiply(y);
      }
      if (rounds == 2) walk.load(y);
      multiply(x);
      if (rounds == 2) multiply(y);
    }
  }
  T total{};
#pragma unroll
  for (int i = 0; i < kept; ++i) total = add(total, sum[i]);
  out[static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x] = total;
}

}  // namespace gemm::probes

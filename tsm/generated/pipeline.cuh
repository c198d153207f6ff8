// TSMTTSM past the latency wall: rows of A and B are copied to shared memory several stages ahead, so that no register
// waits for device memory, and tiles in registers are as large as FP64 cores like them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/complex.cuh"
#include "tsm/generated/block_sum.cuh"
#include "tsm/generated/places.cuh"
#include "tsm/generated/stream.cuh"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::generated {

/// A launch of it.
template <class T>
using TsmttsmPipeline = void(std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* partial);

/// Sums of A^T B, or of A^H B if `conjugate`, over the rows of each block: M x N of them for each, in `partial`.
/// A thread has PM x PN units of C, those of its first unit's column and row and every so-manieth from there. A slice of
/// the block has all of C, and every so-manieth row of a stage. A stage has `turns` rows for each slice.
/// wide_a, wide_b: all rows of A, of B, begin at multiples of 16 bytes.
template <class T, int M, int N, int PM, int PN, bool conjugate, bool wide_a, bool wide_b, int threads, int turns,
          int stages, int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmttsm_pipeline(std::int64_t k, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
                     std::int64_t ldb, T* __restrict__ partial) {
  using A = Panel<T, M>;
  using B = Panel<T, N>;
  constexpr Places places = places_of(A::units, B::units, PM, PN);
  constexpr int unit = A::per_unit, TM = PM * unit, TN = PN * unit;
  constexpr int slices = threads / places.count, rows = slices * turns, stage = rows * (A::stride + B::stride);
  static_assert(slices >= 1 && (PM - 1) * places.along_m < A::units && (PN - 1) * places.along_n < B::units);
  T* const shared = reinterpret_cast<T*>(smem);
  const int slice = threadIdx.x / places.count, place = threadIdx.x % places.count;
  const int at_m = places.row(place), at_n = places.col(place);
  // Only a thread's last units can lie outside; then it repeats the last ones that don't.
  const int last_m = smaller(at_m + (PM - 1) * places.along_m, A::units - 1),
            last_n = smaller(at_n + (PN - 1) * places.along_n, B::units - 1);

#pragma unroll
  for (int s = 0; s < stages; ++s) {
    if (!wide_a) A::template clear_edge<rows, threads>(shared + s * stage);
    if (!wide_b) B::template clear_edge<rows, threads>(shared + s * stage + rows * A::stride);
  }

  // Stages are dealt out to the blocks in turns. Those behind the last one are empty.
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows;
  std::int64_t next = static_cast<std::int64_t>(blockIdx.x) * rows;
  const auto copy = [&](int buffer) {
    if (next < k) {
      const int existing = k - next < rows ? static_cast<int>(k - next) : rows;
      T* const to = shared + buffer * stage;
      A::template copy<rows, threads, wide_a>(to, a + next * lda, lda, existing, a);
      B::template copy<rows, threads, wide_b>(to + rows * A::stride, b + next * ldb, ldb, existing, b);
    }
    ptx::cp_async_commit();
    next += step;
  };
#pragma unroll 1
  for (int s = 0; s < stages - 1; ++s) copy(s);

  T sum[TM][TN] = {};
  int buffer = 0;
#pragma unroll 1
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * rows; row < k; row += step) {
    ptx::cp_async_wait<stages - 2>();
    __syncthreads();  // the stage is complete, and nobody reads the one before any more
    copy(buffer == 0 ? stages - 1 : buffer - 1);
    if (slice < slices) {
      const T* const x_row = shared + buffer * stage + slice * A::stride;
      const T* const y_row = shared + buffer * stage + rows * A::stride + slice * B::stride;
#pragma unroll 4
      for (int turn = 0; turn < turns; ++turn) {
        alignas(16) T x[TM], y[TN];
#pragma unroll
        for (int i = 0; i < PM; ++i)
          copy_unit(x + i * unit,
                    x_row + turn * slices * A::stride + (i < PM - 1 ? at_m + i * places.along_m : last_m) * unit);
#pragma unroll
        for (int j = 0; j < PN; ++j)
          copy_unit(y + j * unit,
                    y_row + turn * slices * B::stride + (j < PN - 1 ? at_n + j * places.along_n : last_n) * unit);
#pragma unroll
        for (int i = 0; i < TM; ++i) {
#pragma unroll
          for (int j = 0; j < TN; ++j) sum[i][j] = multiply_add(conjugate_if(conjugate, x[i]), y[j], sum[i][j]);
        }
      }
    }
    buffer = buffer == stages - 1 ? 0 : buffer + 1;
  }

  if constexpr (slices > 1) {
    ptx::cp_async_wait<0>();
    __syncthreads();  // nobody reads or fills stages any more
    constexpr int fit = stages * stage / (places.count * TM * TN);
    static_assert(fit >= 1);
    add_up_slices<places.count, slices, smaller(slices / 2, fit)>(sum, slice, place, shared);
  }
  if (slice > 0) return;
  T* const out = partial + static_cast<std::int64_t>(blockIdx.x) * (M * N);
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = (at_m + i / unit * places.along_m) * unit + i % unit;
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int col = (at_n + j / unit * places.along_n) * unit + j % unit;
      if (row < M && col < N) out[row * N + col] = sum[i][j];
    }
  }
}

}  // namespace gemm::generated

// TSMTTSM past the latency wall: rows of A and B are copied to shared memory several stages ahead, so that no register
// waits for device memory, and tiles in registers are as large as FP64 cores like them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/complex.cuh"
#include "tsm/generated/block_sum.cuh"
#include "tsm/generated/multiply.cuh"
#include "tsm/generated/places.cuh"
#include "tsm/generated/stream.cuh"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::generated {

/// A launch of it.
template <class T>
using TsmttsmPipeline = void(std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* partial);

/// Sums of A^T B, or of A^H B if `conjugate`, over the rows of each block: M x N of them for each, in `partial`.
/// A thread has PM x PN units of C, those of its first unit's column and row and every so-manieth from there. A slice of
/// the block has all of C, and every so-manieth row of a stage. A stage has `turns` rows for each slice, an even number.
/// wide_a, wide_b: all rows of A, of B, begin at multiples of 16 bytes.
template <class T, int M, int N, int PM, int PN, bool conjugate, bool wide_a, bool wide_b, int threads, int turns,
          int stages, int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmttsm_pipeline(std::int64_t k, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
                     std::int64_t ldb, T* __restrict__ partial) {
  constexpr Places places = places_of(units_of<T>(M), units_of<T>(N), PM, PN);
  constexpr bool by_turns = swizzled(places.count);
  using A = Panel<T, M, by_turns>;
  using B = Panel<T, N, by_turns>;
  constexpr int unit = A::per_unit, TM = PM * unit, TN = PN * unit;
  constexpr int slices = slices_of_block(threads, places.count), rows = slices * turns,
                stage = rows * (A::stride + B::stride);
  static_assert(slices >= 1 && turns % 2 == 0 && (PM - 1) * places.along_m < A::units &&
                (PN - 1) * places.along_n < B::units);
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
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * rows,
                     step = static_cast<std::int64_t>(gridDim.x) * rows;
  Copies<T, M, by_turns, rows, threads, wide_a> of_a(a, lda, first, step);
  Copies<T, N, by_turns, rows, threads, wide_b> of_b(b, ldb, first, step);
  std::int64_t left = k - first;                             // rows from the stage that is copied next
  const auto start = [&](int buffer, int part, int parts) {  // of a stage's copies the part-th of so many parts
    T* const to = shared + buffer * stage;
    if (left >= rows) {
#pragma unroll
      for (int i = 0; i < of_a.count; ++i) {
        if (i * parts / of_a.count == part) of_a.start(to, i);
      }
#pragma unroll
      for (int i = 0; i < of_b.count; ++i) {
        if (i * parts / of_b.count == part) of_b.start(to + rows * A::stride, i);
      }
    } else if (left > 0 && part == 0) {
      of_a.start_part(to, static_cast<int>(left));
      of_b.start_part(to + rows * A::stride, static_cast<int>(left));
    }
  };
  const auto commit = [&] {
    ptx::cp_async_commit();
    of_a.next();
    of_b.next();
    left -= step;
  };
#pragma unroll 1
  for (int s = 0; s < stages - 1; ++s) {
    start(s, 0, 1);
    commit();
  }

  // While the words of one row are multiplied, those of the next are on their way to the other half of x and y, also where
  // the next one is the first of another stage.
  alignas(16) T x[2][TM], y[2][TN], sum[TM][TN] = {};
  const bool works = threads == slices * places.count || slice < slices;
  const auto read = [&](int buffer, int turn) {
    if (!works) return;
    const T* const x_row = shared + buffer * stage + slice * A::stride + turn * (slices * A::stride);
    const T* const y_row = shared + buffer * stage + rows * A::stride + slice * B::stride + turn * (slices * B::stride);
#pragma unroll
    for (int i = 0; i < PM; ++i)
      copy_unit(&x[turn % 2][i * unit],
                x_row + ((i < PM - 1 ? at_m + i * places.along_m : last_m) ^ A::swizzle(slice)) * unit);
#pragma unroll
    for (int j = 0; j < PN; ++j)
      copy_unit(&y[turn % 2][j * unit],
                y_row + ((j < PN - 1 ? at_n + j * places.along_n : last_n) ^ B::swizzle(slice)) * unit);
  };
  const auto wait = [] {  // until the next stage is complete, and nobody reads this one any more
    ptx::cp_async_wait<stages - 2>();
    __syncthreads();
  };
  wait();
  if (first < k) read(0, 0);
  int buffer = 0;
#pragma unroll 1
  for (std::int64_t row = first; row < k; row += step) {
    const int before = buffer == 0 ? stages - 1 : buffer - 1, next = buffer == stages - 1 ? 0 : buffer + 1;
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      // Copies are started between the rows, so that loads from shared memory need not queue behind all of them.
      start(before, turn, turns);
      if (turn + 1 < turns) {
        read(buffer, turn + 1);
      } else {
        commit();
        wait();
        if (row + step < k) read(next, 0);
      }
      if (works) multiply_tile<conjugate>(x[turn % 2], y[turn % 2], sum);
    }
    buffer = next;
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

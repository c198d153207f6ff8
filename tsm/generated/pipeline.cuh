// TSMTTSM past the latency wall: rows of A and B are copied to shared memory several stages ahead, so that no register
// waits for device memory, and tiles in registers are as large as FP64 cores like them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
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
/// A thread has PM x PN units of C, of unit_m x unit_n elements, those of its first unit's column and row and every
/// so-manieth from there. A slice of the block has all of C, and every so-manieth row of a stage. A stage has `turns`
/// rows for each slice, an even number. In rows of an odd number of elements units of two begin a column earlier in
/// every second row; then there is an even number of slices, and each of them has only such rows, or only others.
/// rows_a, rows_b: how A and B lie in memory. products: of real numbers for one of T. gram: B is A, and is copied once.
template <class T, int M, int N, int unit_m, int unit_n, int PM, int PN, bool conjugate, int products, Rows rows_a,
          Rows rows_b, int threads, int turns, int stages, int resident, bool gram = false>
__global__ void __launch_bounds__(threads, resident)
    tsmttsm_pipeline(std::int64_t k, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
                     std::int64_t ldb, T* __restrict__ partial) {
  constexpr Places places = places_of(ceil_div(M, unit_m), ceil_div(N, unit_n), PM, PN);
  constexpr bool by_turns = swizzled(places.count);
  using A = Panel<T, M, unit_m, by_turns>;
  using B = Panel<T, N, unit_n, by_turns>;
  constexpr bool shifted = A::shifted || B::shifted;
  constexpr int TM = PM * A::unit, TN = PN * B::unit, row_a = M * sizeof(T), row_b = N * sizeof(T);
  constexpr int slices = slices_of_block(threads, places.count, shifted), rows = slices * turns,
                begin_b = gram ? 0 : rows * row_a, stage = begin_b + rows * row_b;  // bytes
  static_assert(slices >= 1 && turns % 2 == 0 && (PM - 1) * places.along_m < A::units &&
                (PN - 1) * places.along_n < B::units && !(shifted && by_turns) &&
                (!gram || (M == N && unit_m == unit_n && rows_a == rows_b)));
  const int slice = threadIdx.x / places.count, place = threadIdx.x % places.count;
  const int at_m = places.row(place), at_n = places.col(place);
  // Only a thread's last units can lie outside; then it repeats the last ones that don't.
  const int last_m = smaller(at_m + (PM - 1) * places.along_m, A::units - 1),
            last_n = smaller(at_n + (PN - 1) * places.along_n, B::units - 1);
  const ptx::SharedAddress begin = ptx::kept_shared_address(smem), end = begin + stages * stage;

  // Stages are distributed round robin among the blocks. All rows exist but of the last one.
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * rows,
                     step = static_cast<std::int64_t>(gridDim.x) * rows;
  const int mine = first < k ? static_cast<int>((k - first - 1) / step) + 1 : 0,
            whole = first + rows <= k ? static_cast<int>((k - first - rows) / step) + 1 : 0;
  Copies<T, M, unit_m, by_turns, rows, threads, rows_a> of_a(a, lda, first, step);
  Copies<T, N, unit_n, by_turns, rows, threads, rows_b> of_b(b, ldb, first, step);
  int next = 0;  // stage to be copied
  const auto copy = [&](ptx::SharedAddress to) {
    if (next < whole) [[likely]] {
      of_a.start(to);
      if constexpr (!gram) of_b.start(to + begin_b);
    } else if (next < mine) {
      const int existing = static_cast<int>(k - first - next * step);
      of_a.start_part(to, existing);
      if constexpr (!gram) of_b.start_part(to + begin_b, existing);
    }
    ptx::cp_async_commit();
  };
  const auto advance = [&] {
    of_a.next();
    if constexpr (!gram) of_b.next();
    ++next;
  };
#pragma unroll 1
  for (int s = 0; s < stages - 1; ++s) {
    copy(begin + s * stage);
    advance();
  }

  // While the words of one row are multiplied, those of the next are in flight to the other half of x and y, also
  // where the next one is the first of another stage.
  alignas(16) T x[2][TM], y[2][TN];
  Tile<T, TM, TN, conjugate, products> tile;
  // Lanes that are left over do what others do: that costs nothing, a branch would.
  constexpr bool whole_warps = threads - slices * places.count >= 32;
  const bool works = !whole_warps || slice < slices;
  const int its = smaller(slice, slices - 1);
  const auto read = [&](ptx::SharedAddress stage_at, int turn) {
    if (!works) return;
    constexpr int element = sizeof(T);
    const ptx::SharedAddress x_row = stage_at + (its * row_a + A::before(its) * element),
                             y_row = stage_at + (begin_b + its * row_b + B::before(its) * element);
#pragma unroll
    for (int i = 0; i < PM; ++i)
      load_unit<A::unit>(
          &x[turn % 2][i * A::unit],
          x_row + A::offset(its, i < PM - 1 ? at_m + i * places.along_m : last_m) + turn * (slices * row_a));
#pragma unroll
    for (int j = 0; j < PN; ++j)
      load_unit<B::unit>(
          &y[turn % 2][j * B::unit],
          y_row + B::offset(its, j < PN - 1 ? at_n + j * places.along_n : last_n) + turn * (slices * row_b));
  };
  const auto wait = [] {  // until the next stage is complete, and nobody reads this one any more
    ptx::cp_async_wait<stages - 2>();
    __syncthreads();
  };
  wait();
  ptx::SharedAddress at = begin, free = end - stage;  // this stage, and the one before it
  read(at, 0);
#pragma unroll 1
  for (int s = 0; s < mine; ++s) {
    const ptx::SharedAddress behind = at + stage == end ? begin : at + stage;
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      if (turn + 1 < turns) {
        read(at, turn + 1);
        if (turn == 0) copy(free);
      } else {
        wait();
        advance();                            // here, since copies take a while to read their addresses
        read(s + 1 < mine ? behind : at, 0);  // needed or not: a branch would take moves between registers
      }
      if (works) tile.add(x[turn % 2], y[turn % 2]);
    }
    free = at;
    at = behind;
  }

  ptx::let_launch_behind_begin();  // the one that adds up the blocks' sums
  T sum[TM][TN];
  tile.get(sum);
  // What a thread does with its sums, each at its element's place in a matrix C.
  enum class Does { stores, adds_what_is_there };
  const auto each = [&](T* c, Does what) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int row = (at_m + i / unit_m * places.along_m) * unit_m + i % unit_m + A::before(slice);
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        const int col = (at_n + j / unit_n * places.along_n) * unit_n + j % unit_n + B::before(slice);
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
    constexpr int fit = stages * stage / static_cast<int>(places.count * TM * TN * sizeof(T));
    static_assert(fit >= 1);
    T* const kept = reinterpret_cast<T*>(smem);
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

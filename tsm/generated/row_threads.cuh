// Which threads have a row of TSMM's B between them: for the kernel, for its launch and for the model.
#pragma once

#include <cuda_runtime.h>

#include "tsm/generated/slices.cuh"

namespace gemm::generated {

/// A thread's row of those that its block has at a time, and its place among the row's threads.
struct RowThread {
  int row, place;
};

/// With `per_row` threads a row, 1, 2, 4, 8 or 16. Lanes n and n ^ 1 have the same row and n and n ^ 2 the same columns
/// of two rows: the L1 cache and shared memory pass words of 8 or 16 bytes in half the time if lanes agree in such
/// pairs, so that both loads, of A and of C, do. A warp's lanes still have whole rows, or neighbours in them.
template <int per_row>
__host__ __device__ constexpr RowThread row_thread(int thread) {
  static_assert(32 % per_row == 0 && per_row < 32);
  if (per_row == 1) return {thread, 0};
  const int both = thread / (2 * per_row), inside = thread % (2 * per_row);  // two rows
  return {2 * both + inside / 2 % 2, inside / 4 * 2 + inside % 2};
}

/// The columns of a place: every per_row-th of N.
template <int N, int per_row>
struct RowColumns {
  static constexpr int count = ceil_div(N, per_row);
  int place, last;

  __device__ explicit RowColumns(int of) : place(of), last(smaller(of + (count - 1) * per_row, N - 1)) {}
  /// The last one may be another thread's: there is none outside.
  __device__ int operator[](int j) const { return j + 1 < count ? place + j * per_row : last; }
  __device__ bool is_mine(int j) const { return j + 1 < count || N % per_row == 0 || place + j * per_row < N; }
};

/// Columns of A that a thread loads together, of each of its rows: 128 bytes in all where it has two rows or four.
__host__ __device__ constexpr int columns_ahead(int element, int m, int rows) {
  return smaller(m, (rows > 2 ? 32 : 64) / element);
}

}  // namespace gemm::generated

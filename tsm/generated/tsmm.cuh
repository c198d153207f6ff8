// Parts of tsm/12's kernel: where a thread has its columns of C from, and its rows of A times these.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/row_threads.cuh"

namespace gemm::generated {

/// Where a thread has the elements of C from.
enum class From { registers, global, shared };

/// A thread's columns of C: in its registers, or where they are.
template <From from, class T, int M, class Columns>
struct ElementsOfC {
  const Columns& mine;
  const T* c;
  std::int64_t ldc;

  __device__ T operator()(int i, int j) const { return c[i * ldc + mine[j]]; }
};
template <class T, int M, class Columns>
struct ElementsOfC<From::registers, T, M, Columns> {
  T value[M][Columns::count];

  __device__ ElementsOfC(const Columns& mine, const T* c, std::int64_t ldc) {
#pragma unroll
    for (int i = 0; i < M; ++i) {
#pragma unroll
      for (int j = 0; j < Columns::count; ++j) value[i][j] = c[i * ldc + mine[j]];
    }
  }
  __device__ T operator()(int i, int j) const {
    return value[i][j];
  }
};

/// Elements of A that lie side by side; wide: at a multiple of 16 bytes.
template <bool wide, int columns, class T>
__device__ void load_columns(T (&x)[columns], const T* from) {
  if constexpr (wide && sizeof(T) == 8) {
    static_assert(columns % 2 == 0);
#pragma unroll
    for (int i = 0; i < columns; i += 2) {
      const double2 both = *reinterpret_cast<const double2*>(from + i);
      x[i] = both.x;
      x[i + 1] = both.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < columns; ++i) x[i] = from[i];
  }
}

/// sum += x C for `columns` columns of A, from `first` on, of each row.
template <bool wide, int columns, class T, int rows, int count, class C>
__device__ void multiply_columns(const T* const (&row)[rows], int first, const C& c, T (&sum)[rows][count]) {
  T x[rows][columns];  // in flight together
#pragma unroll
  for (int u = 0; u < rows; ++u) load_columns<wide>(x[u], row[u] + first);
#pragma unroll
  for (int i = 0; i < columns; ++i) {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      const T factor = c(first + i, j);
#pragma unroll
      for (int u = 0; u < rows; ++u) sum[u][j] = multiply_add(x[u][i], factor, sum[u][j]);
    }
  }
}

/// sum = A C for these rows. unrolled: all of M, as registers have no index.
template <int M, int columns, bool wide, bool unrolled, class T, int rows, int count, class C>
__device__ void multiply_rows(const T* const (&row)[rows], const C& c, T (&sum)[rows][count]) {
  constexpr int whole = M / columns * columns;
  if constexpr (unrolled) {
#pragma unroll
    for (int i = 0; i < whole; i += columns) multiply_columns<wide, columns>(row, i, c, sum);
  } else {
#pragma unroll 1  // or nvcc would load what there are no registers for
    for (int i = 0; i < whole; i += columns) multiply_columns<wide, columns>(row, i, c, sum);
  }
  if constexpr (M % columns > 0) multiply_columns<wide, M % columns>(row, whole, c, sum);
}

}  // namespace gemm::generated

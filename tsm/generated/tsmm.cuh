// TSMM with everything known to the compiler: type, M, N, threads of a row, rows at a time, source of C. It is compiled
// when a problem asks for it (common/toolchain/jit.hpp), with no more of the harness than common/kernel/complex.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/row_stores.cuh"
#include "tsm/generated/row_threads.cuh"

// Dynamic, because the executor gives kernels that are compiled at run time no other.
extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::generated {

/// Where a thread has the elements of C from.
enum class From { registers, global, shared };

/// A thread's columns of C, in its registers.
template <class T, int M, class Columns>
struct ColumnsInRegisters {
  T value[M][Columns::count];

  __device__ ColumnsInRegisters(const Columns& mine, const T* c, std::int64_t ldc) {
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

/// The same in memory.
template <class T, class Columns>
struct ColumnsInMemory {
  const Columns& mine;
  const T* c;
  std::int64_t ldc;

  __device__ T operator()(int i, int j) const { return c[i * ldc + mine[j]]; }
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

/// Of B = alpha A C + beta B a thread's columns in all its rows: `unroll` of them at a time, `distance` apart. first:
/// the first one; step: from those to the next. C: ColumnsInRegisters or ColumnsInMemory.
template <class T, int M, int N, int unroll, int distance, bool wide, bool in_registers, class Columns, class C>
__device__ void multiply_all_rows(std::int64_t first, std::int64_t step, std::int64_t k, T alpha,
                                  const T* __restrict__ a, std::int64_t lda, const Columns& mine, const C& c, T beta,
                                  T* b, std::int64_t ldb) {
  constexpr int count = Columns::count, ahead = columns_ahead(sizeof(T), M, unroll);
  const bool adds = !is_zero(beta);
#pragma unroll 1  // `unroll` says how many rows, and not nvcc
  for (; first < k; first += step) {
    // Where fewer rows are left, the first stands in for the others.
    std::int64_t row[unroll];
    const T* row_of_a[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      row[u] = first + u * distance;
      row_of_a[u] = a + (row[u] < k ? row[u] : first) * lda;
      if (ldb > N && row[u] < k && mine.place == 0) prefetch_ends<T, N>(b + row[u] * ldb, ldb, row[u] > 0);
    }
    T sum[unroll][count] = {};
    multiply_rows<M, ahead, wide, in_registers>(row_of_a, c, sum);

#pragma unroll
    for (int u = 0; u < unroll; ++u) {
#pragma unroll
      for (int j = 0; j < count; ++j) {
        sum[u][j] = multiply_add(alpha, sum[u][j], T{});
        // All loads before the first store, which might change what they read for all that nvcc knows.
        if (adds && row[u] < k && mine.is_mine(j)) sum[u][j] = multiply_add(beta, b[row[u] * ldb + mine[j]], sum[u][j]);
      }
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
#pragma unroll
      for (int j = 0; j < count; ++j) {
        if (row[u] < k && mine.is_mine(j)) b[row[u] * ldb + mine[j]] = sum[u][j];
      }
    }
    // Memory may have changed, so that C is read again for the next rows: else nvcc would keep it in registers wherever
    // it fits, whatever the source.
    if constexpr (!in_registers) asm volatile("" ::: "memory");
  }
}

/// A launch of it.
template <class T>
using Tsmm = void(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* c, std::int64_t ldc, T beta, T* b,
                  std::int64_t ldb);

/// B = alpha A C + beta B. `per_row` threads have a row of B between them (RowThread), and each thread `unroll` rows at
/// a time, for which it takes an element of C once. wide: rows of A begin at multiples of 16 bytes (and M is even, of
/// real numbers), so that they can be loaded 16 bytes at a time. From::shared needs M N elements of dynamic shared
/// memory. C is not `restrict`: then it could be kept in registers after all. `threads` is the block's size;
/// `resident`: so many blocks must fit an SM.
template <class T, int M, int N, int per_row, int unroll, From from, bool wide, int threads, int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmm(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* c, std::int64_t ldc, T beta, T* b,
         std::int64_t ldb) {
  using Columns = RowColumns<N, per_row>;
  constexpr int distance = threads / per_row;  // rows that the block has at a time, `unroll` times
  const RowThread thread = row_thread<per_row>(threadIdx.x);
  const Columns mine(thread.place);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * distance * unroll + thread.row;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * distance * unroll;
  if constexpr (from == From::registers) {
    const ColumnsInRegisters<T, M, Columns> columns(mine, c, ldc);
    multiply_all_rows<T, M, N, unroll, distance, wide, true>(first, step, k, alpha, a, lda, mine, columns, beta, b,
                                                             ldb);
  } else {
    if constexpr (from == From::shared) {
      for (int i = threadIdx.x; i < M * N; i += threads) reinterpret_cast<T*>(smem)[i] = c[i / N * ldc + i % N];
      __syncthreads();
      c = reinterpret_cast<const T*>(smem);
      ldc = N;
    }
    const ColumnsInMemory<T, Columns> columns{mine, c, ldc};
    multiply_all_rows<T, M, N, unroll, distance, wide, false>(first, step, k, alpha, a, lda, mine, columns, beta, b,
                                                              ldb);
  }
}

}  // namespace gemm::generated

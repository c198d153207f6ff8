// Parts of tsm/09's kernel: which columns of C a thread has, how it walks along K and loads its columns of A and B, the
// products of loaded rows, and sums added to C atomically.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/slices.cuh"

namespace gemm::generated {

/// Which of a row's W columns a thread has: TW of them. Interleaved ("transposed"): those a constant distance apart, so
/// that neighbouring threads have neighbouring columns. Else TW neighbours, and the last thread moves back until it has
/// no column outside, at the price of some that another thread has, too.
template <int W, int TW, bool interleaved>
struct Columns {
  static_assert(TW <= W);
  static constexpr int threads = ceil_div(W, TW);
  static constexpr int step = interleaved ? threads : 1;

  int first, last_of_others = -1;

  __device__ explicit Columns(int thread) : first(interleaved ? thread : smaller(thread * TW, W - TW)) {
    if (!interleaved) last_of_others = thread * TW - 1;
  }
  __device__ int operator[](int i) const { return first + i * step; }
  /// No thread's i-th column is outside.
  __device__ static constexpr bool fits(int i) { return !interleaved || threads - 1 + i * step < W; }
  __device__ bool is_inside(int i) const { return fits(i) || (*this)[i] < W; }
  __device__ bool is_mine(int i) const { return is_inside(i) && (*this)[i] > last_of_others; }

  /// Reads them from a row that begins `first` elements before `row`.
  template <class T>
  __device__ void load(T (&x)[TW], const T* row) const {
#pragma unroll
    for (int i = 0; i < TW; ++i) {
      if (is_inside(i)) x[i] = row[i * step];  // the others keep what they have, which goes nowhere
    }
  }
};

/// Rows that are loaded together.
template <class T, int TM, int TN, int rows>
struct LoadedRows {
  T a[rows][TM] = {}, b[rows][TN] = {};
};

/// The same address, of which the compiler no longer knows how it came about. Else nvcc 13.0 turns the additions row by
/// row into products, and for 3 x 2 tiles of a 5 x 5 C, 8 rows at a time, it read one element of A 8 bytes too early.
template <class T>
__device__ const T* settled(const T* address) {
#ifdef __CUDA_ARCH__
  asm("" : "+l"(address));
#endif
  return address;
}

/// A thread's way along K.
template <class T, class ColumnsA, class ColumnsB>
struct Walk {
  ColumnsA mine_a;
  ColumnsB mine_b;
  const T *row_a, *row_b;  ///< its first columns in the next row
  std::int64_t step_a, step_b;

  template <int TM, int TN, int rows>
  __device__ void load(LoadedRows<T, TM, TN, rows>& x) {
#pragma unroll
    for (int u = 0; u < rows; ++u) {
      mine_a.load(x.a[u], row_a);
      mine_b.load(x.b[u], row_b);
      row_a = settled(row_a + step_a);
      row_b = settled(row_b + step_b);
    }
  }
};

template <bool conjugate, class T, int TM, int TN, int rows>
__device__ void multiply(const LoadedRows<T, TM, TN, rows>& x, T (&sum)[TM][TN]) {
#pragma unroll
  for (int u = 0; u < rows; ++u) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) sum[i][j] = multiply_add(conjugate_if(conjugate, x.a[u][i]), x.b[u][j], sum[i][j]);
    }
  }
}

__device__ inline void add_to(double* out, double x) {
  atomicAdd(out, x);
}
__device__ inline void add_to(double2* out, double2 x) {
  atomicAdd(&out->x, x.x);
  atomicAdd(&out->y, x.y);
}

/// Adds alpha times each thread's sums to C atomically: first to a copy of C in shared memory, then that to C. All threads
/// of the block must call it, those that have none (`has_sums` is false), too.
template <int M, int N, int threads, class T, int TM, int TN, class ColumnsA, class ColumnsB>
__device__ void add_by_way_of_shared(const T (&sum)[TM][TN], bool has_sums, const ColumnsA& mine_a,
                                     const ColumnsB& mine_b, T* copy, T alpha, T* c, std::int64_t ldc) {
  for (int i = threadIdx.x; i < M * N; i += threads) copy[i] = T{};
  __syncthreads();
  if (has_sums) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        if (mine_a.is_mine(i) && mine_b.is_mine(j)) add_to(copy + mine_a[i] * N + mine_b[j], sum[i][j]);
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < M * N; i += threads) add_to(c + i / N * ldc + i % N, multiply_add(alpha, copy[i], T{}));
}

}  // namespace gemm::generated

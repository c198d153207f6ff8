// TSMTTSM with everything known to the compiler: type, M, N, tile, order of the columns, loads ahead, reduction. It is
// compiled when a problem asks for it (common/toolchain/jit.hpp), with no more of the harness than
// common/kernel/complex.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "common/problem/reduction.hpp"
#include "tsm/generated/block_sum.cuh"
#include "tsm/generated/slices.cuh"

// Dynamic, because the executor gives kernels that are compiled at run time no other.
extern __shared__ __align__(16) unsigned char smem[];

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

/// A launch of it.
template <class T>
using Tsmttsm = void(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c,
                     std::int64_t ldc, T* partial);

/// A and B, both read by rows; a block's slices take rows round robin, `unroll` of them at a time. With `leapfrog`, the
/// next rows are in flight, in a second set of registers, while these are multiplied. `reduction` says where sums go:
/// with `ordered` a block's to `partial`, M x N for each block; else alpha times the sums is added to C, atomically.
/// In shared memory are the sums that the tree adds up (slices_of() says how much), or with `shared_atomics` a copy of C.
/// `threads` is the block's size; `resident` is how many blocks must fit an SM.
template <class T, int M, int N, int TM, int TN, bool conjugate, bool transposed, bool leapfrog, int unroll,
          Reduction reduction, int threads, int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmttsm(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
            std::int64_t ldb, T* __restrict__ c, std::int64_t ldc, T* __restrict__ partial) {
  using ColumnsA = Columns<M, TM, transposed>;
  using ColumnsB = Columns<N, TN, transposed>;
  constexpr Slices slices = slices_of(sizeof(T), M, N, TM, TN, threads);
  static_assert(slices.count >= 1 && reduction != Reduction::none);
  constexpr bool tree = reduction == Reduction::local || reduction == Reduction::ordered;
  const int slice = threadIdx.x / slices.threads, place = threadIdx.x % slices.threads;
  const ColumnsA mine_a(place / ColumnsB::threads);
  const ColumnsB mine_b(place % ColumnsB::threads);

  T sum[TM][TN] = {};
  if (slice < slices.count) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * slices.count;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * slices.count + slice;
    const std::int64_t rows = first < k ? (k - first + stride - 1) / stride : 0;
    Walk<T, ColumnsA, ColumnsB> walk{
        mine_a, mine_b, a + first * lda + mine_a.first, b + first * ldb + mine_b.first, stride * lda, stride * ldb};
    std::int64_t rounds = rows / unroll;
    if constexpr (leapfrog) {
      if (rounds > 0) {
        LoadedRows<T, TM, TN, unroll> x, y;
        walk.load(x);
#pragma unroll 1
        for (; rounds > 2; rounds -= 2) {
          walk.load(y);
          multiply<conjugate>(x, sum);
          walk.load(x);
          multiply<conjugate>(y, sum);
        }
        if (rounds == 2) walk.load(y);
        multiply<conjugate>(x, sum);
        if (rounds == 2) multiply<conjugate>(y, sum);
      }
    } else {
#pragma unroll 1  // `unroll` says how many rows, and not nvcc
      for (; rounds > 0; --rounds) {
        LoadedRows<T, TM, TN, unroll> x;
        walk.load(x);
        multiply<conjugate>(x, sum);
      }
    }
    if constexpr (unroll > 1) {
#pragma unroll 1
      for (int rest = static_cast<int>(rows % unroll); rest > 0; --rest) {
        LoadedRows<T, TM, TN, 1> x;
        walk.load(x);
        multiply<conjugate>(x, sum);
      }
    }
  }

  if constexpr (tree && slices.count > 1)
    add_up_slices<slices.threads, slices.count, slices.stored>(sum, slice, place, reinterpret_cast<T*>(smem));
  if constexpr (reduction == Reduction::shared_atomics) {
    T* const copy = reinterpret_cast<T*>(smem);  // of C, M x N
    for (int i = threadIdx.x; i < M * N; i += threads) copy[i] = T{};
    __syncthreads();
    if (slice < slices.count) {
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
          if (mine_a.is_mine(i) && mine_b.is_mine(j)) add_to(copy + mine_a[i] * N + mine_b[j], sum[i][j]);
        }
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < M * N; i += threads)
      add_to(c + i / N * ldc + i % N, multiply_add(alpha, copy[i], T{}));
    return;
  }

  if (slice >= (tree ? 1 : slices.count)) return;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      if (!mine_a.is_mine(i) || !mine_b.is_mine(j)) continue;
      const int row = mine_a[i], col = mine_b[j];
      if constexpr (reduction == Reduction::ordered)
        partial[(static_cast<std::int64_t>(blockIdx.x) * M + row) * N + col] = sum[i][j];
      else
        add_to(c + row * ldc + col, multiply_add(alpha, sum[i][j], T{}));
    }
  }
}

}  // namespace gemm::generated

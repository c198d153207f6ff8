// TSMM through the same pipeline: rows of A come to shared memory stages ahead, C lies there all the time, and rows of B
// leave from registers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/complex.cuh"
#include "tsm/generated/places.cuh"
#include "tsm/generated/stream.cuh"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::generated {

/// A launch of it.
template <class T>
using TsmmPipeline = void(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* c, std::int64_t ldc, T beta,
                          T* b, std::int64_t ldb);

/// B = alpha * A * C + beta * B. A thread has PR rows of B at a time, and PN units of each, those of its first row and
/// unit and every so-manieth from there. `turns` such rows a stage. wide_a, wide_b: all rows of A, of B, begin at multiples
/// of 16 bytes.
template <class T, int M, int N, int PR, int PN, bool wide_a, bool wide_b, int threads, int turns, int stages,
          int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmm_pipeline(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ c,
                  std::int64_t ldc, T beta, T* __restrict__ b, std::int64_t ldb) {
  using A = Panel<T, M>;
  constexpr int unit = A::per_unit, units_n = ceil_div(N, unit), TN = PN * unit;
  constexpr int along_n = ceil_div(units_n, PN), groups = threads / along_n;  // of threads, each with its own rows
  constexpr Places places{groups, along_n, groups * along_n};
  constexpr int rows = groups * PR * turns, stage = rows * A::stride, c_stride = units_n * unit;
  static_assert(groups >= 1 && (PN - 1) * along_n < units_n);
  T* const shared_c = reinterpret_cast<T*>(smem);
  T* const shared = shared_c + A::units * unit * c_stride;
  const int place = threadIdx.x, group = places.row(place), at_n = places.col(place);
  const bool works = place < places.count;
  // Only a thread's last unit can lie outside; then it repeats the last one that doesn't.
  const int last_n = smaller(at_n + (PN - 1) * along_n, units_n - 1);

  // C, with zeros where A's last unit has no column or its own has none.
  for (int i = threadIdx.x; i < A::units * unit * c_stride; i += threads) {
    const int row = i / c_stride, col = i % c_stride;
    shared_c[i] = row < M && col < N ? c[row * ldc + col] : T{};
  }
#pragma unroll
  for (int s = 0; s < stages; ++s) {
    if (!wide_a) A::template clear_edge<rows, threads>(shared + s * stage);
  }

  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * rows,
                     step = static_cast<std::int64_t>(gridDim.x) * rows;
  Copies<T, M, rows, threads, wide_a> copies(a, lda, begin, step);
  std::int64_t left = k - begin;  // rows from the stage that is copied next
  const auto copy = [&](int buffer) {
    const int existing = left < rows ? static_cast<int>(left) : rows;
    if (existing > 0) {
#pragma unroll
      for (int i = 0; i < copies.count; ++i) copies.start(shared + buffer * stage, i, existing);
    }
    ptx::cp_async_commit();
    copies.next();
    left -= step;
  };
#pragma unroll 1
  for (int s = 0; s < stages - 1; ++s) copy(s);

  int buffer = 0;
#pragma unroll 1
  for (std::int64_t first = begin; first < k; first += step) {
    ptx::cp_async_wait<stages - 2>();
    __syncthreads();  // the stage is complete, and nobody reads the one before any more; the first time, C is there
    copy(buffer == 0 ? stages - 1 : buffer - 1);
    if (works) {
#pragma unroll 1
      for (int turn = 0; turn < turns; ++turn) {
        const int mine = turn * groups * PR + group;
        const T* const x_row = shared + buffer * stage + mine * A::stride;
        T sum[PR][TN] = {};
#pragma unroll 2
        for (int u = 0; u < A::units; ++u) {
          alignas(16) T x[PR][unit];
#pragma unroll
          for (int r = 0; r < PR; ++r) copy_unit(x[r], x_row + r * groups * A::stride + u * unit);
#pragma unroll
          for (int v = 0; v < unit; ++v) {
            alignas(16) T y[TN];
#pragma unroll
            for (int j = 0; j < PN; ++j)
              copy_unit(y + j * unit,
                        shared_c + (u * unit + v) * c_stride + (j < PN - 1 ? at_n + j * along_n : last_n) * unit);
#pragma unroll
            for (int r = 0; r < PR; ++r) {
#pragma unroll
              for (int j = 0; j < TN; ++j) sum[r][j] = multiply_add(x[r][v], y[j], sum[r][j]);
            }
          }
        }
#pragma unroll
        for (int r = 0; r < PR; ++r) {
          const std::int64_t row = first + mine + r * groups;
          if (row >= k) break;
          T* const out = b + row * ldb;
#pragma unroll
          for (int j = 0; j < PN; ++j) {
            const int col = (at_n + j * along_n) * unit;
            alignas(16) T result[unit];
#pragma unroll
            for (int v = 0; v < unit; ++v) {
              if (col + v < N) result[v] = scaled(alpha, sum[r][j * unit + v], beta, out + col + v);
            }
            if (wide_b && col + unit <= N) {
              copy_unit(out + col, result);
            } else {
#pragma unroll
              for (int v = 0; v < unit; ++v) {
                if (col + v < N) out[col + v] = result[v];
              }
            }
          }
        }
      }
    }
    buffer = buffer == stages - 1 ? 0 : buffer + 1;
  }
}

}  // namespace gemm::generated

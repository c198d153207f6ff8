// TSMM through the same pipeline: rows of A come to shared memory stages ahead, C lies there all the time, and rows of B
// leave from registers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/complex.cuh"
#include "tsm/generated/multiply.cuh"
#include "tsm/generated/places.cuh"
#include "tsm/generated/stream.cuh"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::generated {

/// A launch of it.
template <class T>
using TsmmPipeline = void(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* c, std::int64_t ldc, T beta,
                          T* b, std::int64_t ldb);

/// B = alpha * A * C + beta * B. A thread has PR rows of B at a time, and PN units of each, those of its first row and
/// unit and every so-manieth from there; a warp has whole rows. `turns` such rows a stage. wide_a, wide_b: all rows of A,
/// of B, begin at multiples of 16 bytes.
template <class T, int M, int N, int PR, int PN, bool wide_a, bool wide_b, int threads, int turns, int stages,
          int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmm_pipeline(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ c,
                  std::int64_t ldc, T beta, T* __restrict__ b, std::int64_t ldb) {
  using A = Panel<T, M, true>;
  constexpr int unit = A::per_unit, units_n = units_of<T>(N), TN = PN * unit, along_n = ceil_div(units_n, PN);
  constexpr Places places = places_of_warp(along_n);
  constexpr int groups = threads / 32 * places.along_m;  // of threads, each with its own rows
  constexpr int rows = groups * PR * turns, stage = rows * A::stride, row_c = units_n * unit;
  static_assert(along_n <= 32 && (PN - 1) * along_n < units_n);
  T* const shared_c = reinterpret_cast<T*>(smem);
  T* const shared = shared_c + A::units * unit * row_c;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int group = warp * places.along_m + places.row(lane), at_n = places.col(lane);
  const bool works = places.count == 32 || lane < places.count;
  // Only a thread's last unit can lie outside; then it repeats the last one that doesn't.
  const int last_n = smaller(at_n + (PN - 1) * along_n, units_n - 1);

  // C, with zeros where A's last unit has no column or its own has none.
  for (int i = threadIdx.x; i < A::units * unit * row_c; i += threads) {
    const int row = i / row_c, col = i % row_c;
    shared_c[i] = row < M && col < N ? c[row * ldc + col] : T{};
  }
#pragma unroll
  for (int s = 0; s < stages; ++s) {
    if (!wide_a) A::template clear_edge<rows, threads>(shared + s * stage);
  }

  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * rows,
                     step = static_cast<std::int64_t>(gridDim.x) * rows;
  Copies<T, M, true, rows, threads, wide_a> copies(a, lda, begin, step);
  std::int64_t left = k - begin;  // rows from the stage that is copied next
  const auto copy = [&](int buffer) {
    T* const to = shared + buffer * stage;
    if (left >= rows) {
#pragma unroll
      for (int i = 0; i < copies.count; ++i) copies.start(to, i);
    } else if (left > 0) {
      copies.start_part(to, static_cast<int>(left));
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
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
      const int mine = turn * groups * PR + group;
      T sum[PR][TN] = {};
      if (works) {
        const T* const x_row = shared + buffer * stage + mine * A::stride;
        // While a column of x and a row of y are multiplied, the next ones are on their way to the other halves.
        alignas(16) T x[2][PR][unit], y[2][TN];
        const auto read_x = [&](int half, int u) {
#pragma unroll
          for (int r = 0; r < PR; ++r)
            copy_unit(x[half][r], x_row + r * groups * A::stride +
                                      (u ^ A::swizzle(groups % 8 == 0 ? group : mine + r * groups)) * unit);
        };
        const auto read_y = [&](int half, int row) {
#pragma unroll
          for (int j = 0; j < PN; ++j)
            copy_unit(&y[half][j * unit], shared_c + row * row_c + (j < PN - 1 ? at_n + j * along_n : last_n) * unit);
        };
        const auto multiply = [&](int half, int u) {  // `half` is where unit u is
#pragma unroll
          for (int v = 0; v < unit; ++v) {
            const int row = u * unit + v, its = unit == 1 ? half : v;
            if (v == 0 && u + 1 < A::units) read_x(1 - half, u + 1);
            if (row + 1 < A::units * unit) read_y(1 - its, row + 1);
            T column[PR];
#pragma unroll
            for (int r = 0; r < PR; ++r) column[r] = x[half][r][v];
            multiply_tile<false>(column, y[its], sum);
          }
        };
        read_x(0, 0);
        read_y(0, 0);
#pragma unroll 1
        for (int u = 0; u + 1 < A::units; u += 2) {
          multiply(0, u);
          multiply(1, u + 1);
        }
        if (A::units % 2 != 0) multiply(0, A::units - 1);
      }
#pragma unroll
      for (int r = 0; r < PR; ++r) {
        if constexpr (wide_b) {
          const std::int64_t row = first + mine + r * groups;
          if (!works || row >= k) break;
          T* const out = b + row * ldb;
#pragma unroll
          for (int j = 0; j < PN; ++j) {
            const int col = (at_n + j * along_n) * unit;
            if (col >= N) break;
            alignas(16) T result[unit];
#pragma unroll
            for (int v = 0; v < unit; ++v) {
              if (col + v < N) result[v] = scaled(alpha, sum[r][j * unit + v], beta, out + col + v);
            }
            if (col + unit <= N)
              copy_unit(out + col, result);
            else
              out[col] = result[0];
          }
        } else {
          // A warp's rows lie one behind the other: they leave through shared memory, so that lanes side by side store
          // words side by side.
          T* const kept = shared + stages * stage + warp * (places.along_m * row_c);
          __syncwarp();  // nobody reads what was there before any more
          if (works) {
#pragma unroll
            for (int j = 0; j < PN; ++j) {
              const int at = at_n + j * along_n;
              if (at < units_n) copy_unit(kept + places.row(lane) * row_c + at * unit, &sum[r][j * unit]);
            }
          }
          __syncwarp();
          const std::int64_t begins = first + turn * groups * PR + r * groups + warp * places.along_m;
#pragma unroll 4
          for (int i = lane; i < places.along_m * N; i += 32) {
            const int row = i / N, col = i % N;
            if (begins + row >= k) break;
            T* const out = b + (begins + row) * ldb + col;
            *out = scaled(alpha, kept[row * row_c + col], beta, out);
          }
        }
      }
    }
    buffer = buffer == stages - 1 ? 0 : buffer + 1;
  }
}

}  // namespace gemm::generated

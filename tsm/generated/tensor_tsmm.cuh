// TSMM on FP64 Tensor Cores: rows of A come to shared memory ahead, by the warp that multiplies them; C lies there all the
// time, in the order in which the instructions want it; rows of B leave from where the rows of A have been.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/chunks.cuh"
#include "tsm/generated/row_stores.cuh"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::generated {

/// A launch of it.
template <class T>
using TsmmTensor = void(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* c, std::int64_t ldc, T beta,
                        T* b, std::int64_t ldb);

/// Bytes of a warp's stage: so many rows of A, and then of B.
__host__ __device__ constexpr int bytes_of_tensor_stage(int m, int n, int element_bytes, int rows) {
  const auto of = [&](int width) {
    const int chunk = rows / 4 * width * element_bytes;
    return 3 * chunk_stride(chunk, 4 * element_bytes) + chunk;
  };
  const int of_a = of(m), of_b = of(n);
  return ceil_div(of_a > of_b ? of_a : of_b, 128) * 128;
}
/// Bytes of C: fragments of 4 x 8, as far as it reaches into them.
__host__ __device__ constexpr int bytes_of_c_fragments(int m, int n, int element_bytes) {
  return ceil_div(m, 4) * ceil_div(n, 8) * 32 * element_bytes;
}

/// B = alpha * A * C + beta * B. A warp has 16 PR rows of B at a time, all columns of them, and takes its turn with all
/// other warps. rows_a, rows_b: how A and B lie in memory.
template <class T, int M, int N, int PR, Rows rows_a, Rows rows_b, int threads, int stages, int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmm_tensor(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ c,
                std::int64_t ldc, T beta, T* __restrict__ b, std::int64_t ldb) {
  constexpr int element = sizeof(T), parts = parts_of<T>, rows = 16 * PR, warps = threads / 32, FN = ceil_div(N, 8),
                steps = ceil_div(M, 4), stage = bytes_of_tensor_stage(M, N, element, rows),
                bytes_c = bytes_of_c_fragments(M, N, element);
  // Lanes of a load: eight rows, four words of each. Half a warp at a time reads 8 bytes, a fourth 16.
  constexpr bool in_one = rows_a == Rows::flat;
  using FromA = ChunkCopies<T, M, rows, 4 * element, 32, rows_a, in_one>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  // Whether rows of B leave from registers, 64 bytes of four lanes at a time: real ones if these are whole sectors of 32,
  // complex ones if that is so in rows without padding, or if a warp is alone on its scheduler, where nobody works while it
  // stores twice. A lane has columns 2t and 2t + 1 of a fragment. Which columns of C these are is free: two neighbours of
  // double, if they leave together; else t and t + 4, so that lanes side by side have results side by side.
  constexpr bool alone = threads * resident <= 128, sectors = N * element % 32 == 0;
  constexpr bool direct = parts == 1 ? rows_b != Rows::any && sectors : alone || (rows_b == Rows::flat && sectors);
  constexpr bool neighbours = parts == 1 && direct;
  const auto column = [](int j, int its) { return j * 8 + (neighbours ? its : its / 2 + its % 2 * 4); };

  // alpha C, and zeros behind it
  for (int i = threadIdx.x; i < steps * FN * 32; i += threads) {
    const int row = i / (FN * 32) * 4 + i % 4, col = column(i / 32 % FN, i % 32 / 4);
    reinterpret_cast<T*>(smem)[i] = row < M && col < N ? multiply_add(alpha, c[row * ldc + col], T{}) : T{};
  }
  __syncthreads();

  // Rows go round robin to all warps, one of each block first. All rows exist but of the last turn.
  const std::int64_t first = (warp * static_cast<std::int64_t>(gridDim.x) + blockIdx.x) * rows,
                     step = static_cast<std::int64_t>(gridDim.x) * (warps * rows);
  if (first >= k) return;
  const int mine = static_cast<int>((k - first - 1) / step) + 1;
  const ptx::SharedAddress shared = ptx::kept_shared_address(smem), begin = shared + bytes_c + warp * (stages * stage),
                           end = begin + stages * stage;
  FromA of_a(a, lda, first, step, lane);
  int next = 0;  // stage to be copied
  const auto existing_of = [&](int turn) { return static_cast<int>(min(k - first - turn * step, std::int64_t{rows})); };
  const auto copy = [&](ptx::SharedAddress to) {
    if (next < mine) {
      of_a.start(to, existing_of(next));
      of_a.next();
      ++next;
    }
    ptx::cp_async_commit();
  };
#pragma unroll 1
  for (int s = 0; s < stages; ++s) copy(begin + s * stage);

  // Row g of 8: row g / 4 of chunk g % 4.
  const int x_at = g % 4 * FromA::stride_of_chunk + g / 4 * FromA::row_bytes + t * element;
  const ptx::SharedAddress y_at = shared + lane * element;
  const bool has_last = M % 4 == 0 || t < M % 4;  // of the last four columns of A
  const std::int64_t ld = rows_b == Rows::flat ? N : ldb;
  const bool adds = !is_zero(beta);
  ptx::SharedAddress at = begin;
#pragma unroll 1
  for (int turn = 0; turn < mine; ++turn) {
    if constexpr (rows_b != Rows::flat) {
      for (int row = lane; ld > N && row < existing_of(turn); row += 32)
        prefetch_ends<T, N>(b + (first + turn * step + row) * ld, ld, row > 0);
    }
    ptx::cp_async_wait<stages - 1>();
    __syncwarp();
    Operand<T> x[2][2 * PR], y[2][FN];
    double sum[parts * PR * FN][4] = {};
    const auto read = [&](int s) {
      // Zeros behind the last column: what lies there may be infinite.
      const bool exists = s < steps - 1 || has_last;
#pragma unroll
      for (int i = 0; i < 2 * PR; ++i) {
        if (exists)
          x[s % 2][i].load(at + x_at + i * (2 * FromA::row_bytes) + s * (4 * element));
        else
          x[s % 2][i] = {};
      }
#pragma unroll
      for (int j = 0; j < FN; ++j) y[s % 2][j].load(y_at + (s * FN + j) * (32 * element));
    };
    read(0);
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      if (s + 1 < steps) read(s + 1);
      multiply_fragments<false, PR, FN>(x[s % 2], y[s % 2], sum);
    }
    // Of the fragment's element e in the i-th 16 rows: its row in the chunk g % 4, and among the warp's.
    const auto row_of_chunk = [&](int i, int e) { return i * 4 + e / 2 * 2 + g / 4; };
    const auto row_of = [&](int i, int e) { return FromA::row_of(g % 4, row_of_chunk(i, e)); };
    const auto value = [&](int i, int j, int e) {
      const int fragment = i * FN + j;
      if constexpr (parts == 2)
        return make_double2(sum[fragment][e], sum[PR * FN + fragment][e]);
      else
        return sum[fragment][e];
    };
    const std::int64_t its_first = first + turn * step;
    const int existing = existing_of(turn);
    T* const out = b + its_first * ld;
    __syncwarp();  // nobody reads this stage any more
    if constexpr (direct) {
      copy(at);
#pragma unroll
      for (int i = 0; i < PR; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = row_of(i, 2 * half);
          T* const to_row = out + row * ld;
#pragma unroll
          for (int j = 0; j < FN; ++j) {
            if constexpr (parts == 2) {
#pragma unroll
              for (int e = 2 * half; e < 2 * half + 2; ++e) {
                const int col = column(j, 2 * t + e % 2);
                if (row < existing && (j < N / 8 || col < N)) {
                  T result = value(i, j, e);
                  if (adds) result = multiply_add(beta, to_row[col], result);
                  to_row[col] = result;
                }
              }
            } else {
              const int col = j * 8 + 2 * t;
              if (row < existing && (j < N / 8 || col < N)) {
                double2 both = make_double2(value(i, j, 2 * half), value(i, j, 2 * half + 1));
                if (adds) {
                  both.x = multiply_add(beta, to_row[col], both.x);
                  both.y = multiply_add(beta, to_row[col + 1], both.y);
                }
                *reinterpret_cast<double2*>(to_row + col) = both;
              }
            }
          }
        }
      }
    } else {
      // Rows that share sectors: through where A's rows were, in four chunks as these. From there lanes side by side store
      // words side by side.
      constexpr int row_b = N * element, chunk_b = rows / 4 * row_b, stride_b = chunk_stride(chunk_b, 4 * element);
#pragma unroll
      for (int i = 0; i < PR; ++i) {
#pragma unroll
        for (int j = 0; j < FN; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int col = column(j, 2 * t + e % 2);
            if (j < N / 8 || col < N)
              ptx::store_shared(at + g % 4 * stride_b + row_of_chunk(i, e) * row_b + col * element, value(i, j, e));
          }
        }
      }
      __syncwarp();
      if (rows_b == Rows::flat && in_one && existing == rows && !adds) {
        constexpr int pieces = chunk_b / 16;
#pragma unroll 8
        for (int i = lane; i < 4 * pieces; i += 32) {
          double2 piece;
          ptx::load_shared(piece.x, piece.y, at + i / pieces * stride_b + i % pieces * 16);
          reinterpret_cast<double2*>(out)[i] = piece;
        }
      } else {
        store_rows<T, N, rows>(out, ld, existing, lane, beta, adds, [&](int row) {
          return in_one ? at + row / (rows / 4) * stride_b + row % (rows / 4) * row_b
                        : at + row % 4 * stride_b + row / 4 * row_b;
        });
      }
      __syncwarp();  // before rows of A come here
      copy(at);
    }
    at = at + stage == end ? begin : at + stage;
  }
}

}  // namespace gemm::generated

// Stages 17a and 17b: how 15 copies k-tiles of any matrices. A's lies by rows.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/ptx.cuh"
#include "stages/summit/tile.cuh"

namespace gemm::summit {

constexpr int STAGES = 3;  // k-tiles in shared memory: one is read, two are in flight
// Words to the next row of as, and to a thread's next one. Rows are 4 banks apart, so 8 lanes' float4s fill all 32.
constexpr int A_ROW = TILE_K + 4, A_APART = LANES_M * A_ROW;
constexpr int A_TILE = TILE_M * A_ROW, B_TILE = TILE_K * TILE_N;
constexpr int B_APART = 4 * LANES_N;  // to a thread's next columns of B
constexpr unsigned SHARED_BYTES = STAGES * (A_TILE + B_TILE) * sizeof(float);
static_assert(LANES_M * LANES_N == 32 && ROWS % 2 == 0 && COLS % 4 == 0 && TILE_K % 4 == 0);

// Copies. A thread takes WORDS words of every A_STEP-th row of A's tile, and of every B_STEP-th of B's.
template <bool VECTOR>
struct RowCopies {
  // Words of a copy; threads that copy a row.
  static constexpr int WORDS = VECTOR ? 4 : 1, A_WIDE = TILE_K / WORDS, B_WIDE = TILE_N / WORDS;
  static constexpr int A_STEP = THREADS / A_WIDE, B_STEP = THREADS / B_WIDE;
  const float *a, *b;
  unsigned lda, ldb;
  int thread;
  const int a_k = thread % A_WIDE * WORDS, a_row = thread / A_WIDE;
  const int b_col = thread % B_WIDE * WORDS, b_k = thread / B_WIDE;
  const float *a_from = nullptr, *b_from = nullptr;
  int last_row = 0, last_col = 0;
  int left = 0;  // steps of k whose copies have not started

  // Outside the matrices the last row and the last columns are copied instead; their results are not stored.
  __device__ void stay_inside(int m, int n, int tile_row, int tile_col) {
    last_row = m - 1 - tile_row, last_col = n - WORDS - tile_col;
  }
  __device__ void start(int tile_row, int tile_col, int k_begin, int k_end) {
    a_from = a + static_cast<std::size_t>(tile_row) * lda + k_begin + a_k;
    b_from = b + tile_col + min(b_col, last_col) + static_cast<std::size_t>(k_begin + b_k) * ldb;
    left = k_end - k_begin;
  }

  __device__ __forceinline__ void fetch(float* as, float* bs, int stage) {
    using gemm::ptx::copy_words;
    const auto row_at = [&](int i) -> std::size_t { return static_cast<unsigned>(min(a_row + i, last_row)); };
    float* a_to = as + stage * A_TILE + a_row * A_ROW + a_k;
    float* b_to = bs + stage * B_TILE + b_k * TILE_N + b_col;
    if (left >= TILE_K) {
#pragma unroll
      for (int i = 0; i < TILE_M; i += A_STEP) copy_words<WORDS>(a_to + i * A_ROW, a_from + row_at(i) * lda, WORDS);
      const float* from = b_from;
#pragma unroll
      for (int i = 0; i < TILE_K; i += B_STEP, from += static_cast<std::size_t>(ldb) * B_STEP)
        copy_words<WORDS>(b_to + i * TILE_N, from, WORDS);
    } else if (left > 0) {  // the last tile, if it is not complete: zeros behind the end of k
      const int a_words = max(min(left - a_k, WORDS), 0);
#pragma unroll 4
      for (int i = 0; i < TILE_M; i += A_STEP) {
        const std::size_t row = row_at(i);
        copy_words<WORDS>(a_to + i * A_ROW, a_words > 0 ? a_from + row * lda : a, a_words);
      }
#pragma unroll 4
      for (int i = 0; i < TILE_K; i += B_STEP) {
        const bool exists = b_k + i < left;
        copy_words<WORDS>(b_to + i * TILE_N, exists ? b_from + i * std::size_t{ldb} : b, exists ? WORDS : 0);
      }
    }
    gemm::ptx::cp_async_commit();
    a_from += TILE_K;
    b_from += static_cast<std::size_t>(ldb) * TILE_K;
    left -= TILE_K;
  }
};

}  // namespace gemm::summit

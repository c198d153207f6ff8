// Stage 16: a point of its search, and its copies of k-tiles.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/ptx.cuh"

namespace gemm::tuned {

// One point of the search. tools/tune/sgemm.py writes such lines, and checks the same constraints.
template <int TILE_M_, int TILE_N_, int TILE_K_, int WARP_M_, int WARP_N_, int LANES_M_, int QUADS_, int STAGES_,
          int GROUP_, int BLOCKS_>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_;  // of C per block
  static constexpr int TILE_K = TILE_K_;                    // steps of k between barriers
  static constexpr int WARP_M = WARP_M_, WARP_N = WARP_N_;  // of C per warp
  static constexpr int LANES_M = LANES_M_, LANES_N = 32 / LANES_M;
  static constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread
  static constexpr int THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32;
  static constexpr int QUADS = QUADS_;         // four steps of k each, in a body of the inner loop
  static constexpr int STAGES = STAGES_;       // k-tiles in shared memory: one is read, the others are in flight
  static constexpr int GROUP = GROUP_;         // rows of A whose quads are in registers at a time, twice
  static constexpr int GROUPS = ROWS / GROUP;  // in a quad
  static constexpr int BLOCKS = BLOCKS_;       // per SM
  static constexpr int A_ROW = TILE_K + 4;     // words of a row of as: rows lie an odd number of float4s apart
  static constexpr int A_TILE = TILE_M * A_ROW, B_TILE = TILE_K * TILE_N;
  static constexpr unsigned SHARED_BYTES = STAGES * (A_TILE + B_TILE) * sizeof(float);
  static_assert(TILE_M % WARP_M == 0 && TILE_N % WARP_N == 0 && THREADS >= 32 && THREADS <= 512);
  static_assert(LANES_M >= 2 && LANES_M <= 16 && LANES_M * LANES_N == 32);
  static_assert(WARP_M % LANES_M == 0 && WARP_N % (4 * LANES_N) == 0 && ROWS % GROUP == 0);
  static_assert(GROUPS * QUADS % 2 == 0, "the halves of a4 swap roles an even number of times in a loop body");
  static_assert(TILE_K % (4 * QUADS) == 0 && TILE_K % 8 == 0 && STAGES >= 2);
  static_assert(BLOCKS * THREADS <= 2048 && BLOCKS * (SHARED_BYTES + 1024) <= 228 * 1024, "of an H200's SM");
};

// As 15's, but all threads together take A_WIDE words of A_STEP rows of A's tile at once, and B_WIDE words of B_STEP rows
// of B's.
template <class S, bool VECTOR>
struct TileCopies {
  static constexpr int TILE_M = S::TILE_M, TILE_N = S::TILE_N, TILE_K = S::TILE_K, A_ROW = S::A_ROW;
  static constexpr int WORDS = VECTOR ? 4 : 1, AT_ONCE = S::THREADS * WORDS;
  static constexpr int A_WIDE = TILE_K < AT_ONCE ? TILE_K : AT_ONCE, A_STEP = AT_ONCE / A_WIDE;
  static constexpr int B_WIDE = TILE_N < AT_ONCE ? TILE_N : AT_ONCE, B_STEP = AT_ONCE / B_WIDE;
  static_assert(AT_ONCE % A_WIDE == 0 && TILE_K % A_WIDE == 0 && TILE_M % A_STEP == 0);
  static_assert(AT_ONCE % B_WIDE == 0 && TILE_N % B_WIDE == 0 && TILE_K % B_STEP == 0);
  const float *a, *b;
  unsigned lda, ldb;
  int thread;
  const int a_k = thread % (A_WIDE / WORDS) * WORDS, a_row = thread / (A_WIDE / WORDS);
  const int b_col = thread % (B_WIDE / WORDS) * WORDS, b_k = thread / (B_WIDE / WORDS);
  const float *a_from = nullptr, *b_from = nullptr;
  int last_row = 0, last_col = 0;
  int left = 0;  // steps of k whose copies have not started

  // Outside the matrices the last row and the last columns are copied instead; their results are not stored.
  __device__ void stay_inside(int m, int n, int tile_row, int tile_col) {
    last_row = m - 1 - tile_row, last_col = n - WORDS - tile_col;
  }
  __device__ void start(int tile_row, int tile_col, int k) {
    a_from = a + static_cast<std::size_t>(tile_row) * lda + a_k;
    b_from = b + tile_col + static_cast<std::size_t>(b_k) * ldb;
    left = k;
  }

  __device__ __forceinline__ void fetch(float* as, float* bs, int stage) {
    float* a_to = as + stage * S::A_TILE + a_row * A_ROW + a_k;
    float* b_to = bs + stage * S::B_TILE + b_k * TILE_N + b_col;
    if (left >= TILE_K) {
#pragma unroll
      for (int i = 0; i < TILE_M; i += A_STEP) {
        const std::size_t row = static_cast<unsigned>(min(a_row + i, last_row));
#pragma unroll
        for (int j = 0; j < TILE_K; j += A_WIDE)
          gemm::ptx::copy_words<WORDS>(a_to + i * A_ROW + j, a_from + j + row * lda, WORDS);
      }
#pragma unroll
      for (int j = 0; j < TILE_N; j += B_WIDE) {
        const float* from = b_from + min(b_col + j, last_col);
#pragma unroll
        for (int i = 0; i < TILE_K; i += B_STEP, from += static_cast<std::size_t>(ldb) * B_STEP)
          gemm::ptx::copy_words<WORDS>(b_to + i * TILE_N + j, from, WORDS);
      }
    } else if (left > 0) {  // the last tile, if it is not complete: zeros behind the end of k
#pragma unroll 4
      for (int i = 0; i < TILE_M; i += A_STEP) {
        const std::size_t row = static_cast<unsigned>(min(a_row + i, last_row));
        for (int j = 0; j < TILE_K; j += A_WIDE) {
          const int words = max(min(left - a_k - j, WORDS), 0);
          gemm::ptx::copy_words<WORDS>(a_to + i * A_ROW + j, words > 0 ? a_from + j + row * lda : a, words);
        }
      }
#pragma unroll 4
      for (int i = 0; i < TILE_K; i += B_STEP) {
        const bool exists = b_k + i < left;
        for (int j = 0; j < TILE_N; j += B_WIDE) {
          const float* from = b_from + min(b_col + j, last_col) + static_cast<std::size_t>(i) * ldb;
          gemm::ptx::copy_words<WORDS>(b_to + i * TILE_N + j, exists ? from : b, exists ? WORDS : 0);
        }
      }
    }
    gemm::ptx::cp_async_commit();
    a_from += TILE_K;
    b_from += static_cast<std::size_t>(ldb) * TILE_K;
    left -= TILE_K;
  }
};

}  // namespace gemm::tuned

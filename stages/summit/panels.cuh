// Stages 16b and 17c: copies of k-tiles from packed panels to shared memory.
#pragma once

#include <cuda_runtime.h>

#include "common/kernel/ptx.cuh"
#include "stages/summit/pack.cuh"
#include "stages/summit/tile.cuh"

namespace gemm::summit {

constexpr int BLOCKS = 2;                                    // per SM
constexpr int ROW = TILE_M + TILE_N, TILE = TILE_K * ROW;    // words of a step of k: A's, then B's; of a k-tile
constexpr int A_APART = 4 * LANES_M, B_APART = 4 * LANES_N;  // to a thread's next rows of A, next columns of B
static_assert(TILE_M == PANEL && TILE_N == PANEL);

// A warp copies 128 words of a step of A, and of B.
struct PanelCopies {
  static constexpr int STRIDE = THREADS / (PANEL / 4);
  const float *a, *b;
  int k, thread;
  const int col = thread % (PANEL / 4) * 4, step = thread / (PANEL / 4);
  const float *a_from = nullptr, *b_from = nullptr;
  int left = 0;  // steps of k whose copies have not started

  __device__ void start(int tile_m, int tile_n, int k_begin, int k_end) {
    a_from = a + (static_cast<std::size_t>(tile_m) * k + k_begin + step) * PANEL + col;
    b_from = b + (static_cast<std::size_t>(tile_n) * k + k_begin + step) * PANEL + col;
    left = k_end - k_begin;
  }

  __device__ __forceinline__ void fetch(float* as, float* bs, int stage) {
    using gemm::ptx::copy_words;
    float* a_to = as + stage * TILE + step * ROW + col;
    float* b_to = bs + stage * TILE + step * ROW + col;
    if (left >= TILE_K) {
#pragma unroll
      for (int i = 0; i < TILE_K; i += STRIDE) copy_words<4>(a_to + i * ROW, a_from + i * PANEL, 4);
#pragma unroll
      for (int i = 0; i < TILE_K; i += STRIDE) copy_words<4>(b_to + i * ROW, b_from + i * PANEL, 4);
    } else if (left > 0) {  // the last tile, if it is not complete: zeros behind the end of k
#pragma unroll 1
      for (int i = 0; i < TILE_K; i += STRIDE) {
        const bool exists = step + i < left;
        copy_words<4>(a_to + i * ROW, exists ? a_from + i * PANEL : a, exists ? 4 : 0);
        copy_words<4>(b_to + i * ROW, exists ? b_from + i * PANEL : b, exists ? 4 : 0);
      }
    }
    gemm::ptx::cp_async_commit();
    a_from += TILE_K * PANEL;
    b_from += TILE_K * PANEL;
    left -= TILE_K;
  }
};

}  // namespace gemm::summit

// Stages 16b, 17a, 17b and 17c: 15's tile of C.
#pragma once

#include <cuda_runtime.h>

namespace gemm::summit {

constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 32;           // of C per block; steps of k between barriers
constexpr int WARP_M = 64, WARP_N = 64;                          // of C per warp
constexpr int LANES_M = 8, LANES_N = 4;                          // how a warp's lanes lie over its part of C
constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread
constexpr int THREADS = 32 * (TILE_M / WARP_M) * (TILE_N / WARP_N);

// Where a thread's outputs are: its lane's row and column among the warp's lanes, and the warp's part of the tile. Lanes 1
// apart share rows, lanes 2 apart share columns: a 16-byte load whose lanes pair up so takes half the cycles.
__device__ inline int4 place_of(int thread) {
  const int lane = thread % 32, warp = thread / 32;
  const int lm = lane / 2 % 2 + lane / 8 * 2, ln = lane % 2 + lane / 4 % 2 * 2;
  const int warp_row = warp / (TILE_N / WARP_N) * WARP_M, warp_col = warp % (TILE_N / WARP_N) * WARP_N;
  return make_int4(lm, ln, warp_row, warp_col);
}

}  // namespace gemm::summit

// Stages 16b, 17a, 17b and 17c: 15's tile of C.
#pragma once

namespace gemm::summit {

constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 32;           // of C per block; steps of k between barriers
constexpr int WARP_M = 64, WARP_N = 64;                          // of C per warp
constexpr int LANES_M = 8, LANES_N = 4;                          // how a warp's lanes lie over its part of C
constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread
constexpr int THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32;
static_assert(LANES_M * LANES_N == 32 && ROWS % 4 == 0 && COLS % 4 == 0);

}  // namespace gemm::summit

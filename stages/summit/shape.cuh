// Stage 18: the five sizes of tile, and the three ways of A and B to shared memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

extern __shared__ __align__(16) float smem[];  // of a block: SLICES slices, later C's tile

namespace gemm::summit {

// One size of tile. With slices, each group of four warps takes its share of each round's steps of k; all have sums of
// the whole tile, and add them up in the end.
template <int TILE_M_, int TILE_N_, int WARP_M_, int WARP_N_, int LANES_M_, int STEPS_, int SLICES_, int BLOCKS_>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_;       // of C per block
  static constexpr int WARP_M = WARP_M_, WARP_N = WARP_N_;       // of C per warp
  static constexpr int SLICES = SLICES_, BLOCKS = BLOCKS_;       // of a round; of an SM
  static constexpr int STEPS = STEPS_;                           // of each slice, in the body of the inner loop
  static constexpr int SLICE_K = 32, TILE_K = SLICE_K * SLICES;  // steps of k a round
  static constexpr int LANES_M = LANES_M_, LANES_N = 32 / LANES_M;
  static constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // sums of a thread
  static constexpr int WARPS = TILE_M / WARP_M * (TILE_N / WARP_N), THREADS = 32 * WARPS * SLICES;
  // Shared memory of a slice: two tiles to read and to fill in turn, of rows of a step's words of A and of B; and a row
  // of zeros.
  static constexpr int ROW = TILE_M + TILE_N, TILE = SLICE_K * ROW, SLICE = 2 * TILE + ROW;
  // Where a round's steps lie, STEPS to each slice in turn.
  __device__ static constexpr int place(int step) {
    return step / STEPS % SLICES * SLICE + (step / (STEPS * SLICES) * STEPS + step % STEPS) * ROW;
  }
  static constexpr int C_ROW = TILE_N + 4;  // of C's tile on its way: float4s four rows apart fill all banks
  static constexpr unsigned SHARED_BYTES =
      std::max(SLICES * SLICE, TILE_M* C_ROW) * static_cast<unsigned>(sizeof(float));
  static constexpr int FOURS = ROWS * COLS / SLICES / 4;  // float4s of C that a thread stores
  static_assert(ROWS % 4 == 0 && COLS % 4 == 0 && ROWS * COLS % (4 * SLICES) == 0 && WARPS == 4);
  static_assert(2 * SLICES * FOURS * THREADS <= 2 * TILE);  // what slices give each other lies before all zeros
};
using Large = Shape<128, 128, 64, 64, 8, 4, 1, 2>;
using Medium = Shape<64, 128, 32, 64, 4, 8, 2, 1>;
using Tall = Shape<128, 64, 64, 32, 8, 8, 1, 3>;
using Small = Shape<64, 64, 32, 32, 4, 8, 1, 4>;
using Slim = Shape<32, 64, 16, 32, 4, 16, 4, 1>;

// How A and B come to shared memory, where both lie by steps of k. Words: one at a time through registers, whatever the
// alignment. Fours: A by 16 bytes of a row through registers, B by 16-byte copies. Packed: 16-byte copies from A's
// panels, and from B or its panels.
enum class Way { words, fours, packed };

}  // namespace gemm::summit

// Stage 16: a point of its search.
#pragma once

#include <cuda_runtime.h>

namespace gemm::tuned {

// One point of the search. tools/tune/sgemm.py writes such lines, and checks the same constraints.
template <int TILE_M_, int TILE_N_, int TILE_K_, int WARP_M_, int WARP_N_, int LANES_M_, int QUADS_, int STAGES_,
          int GROUP_, int BLOCKS_>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, TILE_K = TILE_K_;  // of C per block; steps between barriers
  static constexpr int WARP_M = WARP_M_, WARP_N = WARP_N_;                    // of C per warp
  static constexpr int LANES_M = LANES_M_, LANES_N = 32 / LANES_M;
  static constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread
  static constexpr int THREADS = TILE_M / WARP_M * (TILE_N / WARP_N) * 32;
  static constexpr int QUADS = QUADS_;  // four steps of k each, in a body of the inner loop
  // k-tiles in shared memory: one is read, the others are in flight; blocks per SM
  static constexpr int STAGES = STAGES_, BLOCKS = BLOCKS_;
  static constexpr int GROUP = GROUP_;      // rows of A whose quads are in registers at a time, twice
  static constexpr int A_ROW = TILE_K + 4;  // words of a row of as: rows lie an odd number of float4s apart
  static constexpr int A_TILE = TILE_M * A_ROW, B_TILE = TILE_K * TILE_N;
  static constexpr unsigned SHARED_BYTES = STAGES * (A_TILE + B_TILE) * sizeof(float);
  static_assert(TILE_M % WARP_M == 0 && TILE_N % WARP_N == 0 && THREADS >= 32 && THREADS <= 512);
  static_assert(LANES_M >= 2 && LANES_M <= 16 && LANES_M * LANES_N == 32);
  static_assert(WARP_M % LANES_M == 0 && WARP_N % (4 * LANES_N) == 0 && ROWS % GROUP == 0);
  static_assert(ROWS / GROUP * QUADS % 2 == 0, "the halves of a4 swap roles an even number of times in a loop body");
  static_assert(TILE_K % (4 * QUADS) == 0 && TILE_K % 8 == 0 && STAGES >= 2);
  static_assert(BLOCKS * THREADS <= 2048 && BLOCKS * (SHARED_BYTES + 1024) <= 228 * 1024, "of an H200's SM");
};

}  // namespace gemm::tuned

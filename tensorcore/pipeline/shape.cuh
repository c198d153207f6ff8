// Stages 03 and 03b: the sizes of a block's tile of C.
#pragma once

#include <cuda_runtime.h>

#include "common/kernel/launch.cuh"
#include "common/problem/problem.hpp"

namespace pipeline {

constexpr int WARP_M = 64, WARP_N = 64, ROWS = WARP_M / 16, COLS = WARP_N / 8;  // of C per warp, in tiles of 16 x 8
constexpr int STEP = 16, CHUNK = 8;  // of k for a product; elements in 16 bytes

// How a block's tile of C is made. TILE_K: steps of k between two barriers.
template <int TILE_M_, int TILE_N_, int TILE_K_, int STAGES_, int BLOCKS_>
struct Shape {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, TILE_K = TILE_K_, STAGES = STAGES_, BLOCKS = BLOCKS_;
  static constexpr int WARPS_N = TILE_N / WARP_N, THREADS = TILE_M / WARP_M * WARPS_N * 32;
  static constexpr int FOURS = TILE_M * TILE_N / 4;                  // float4s of a tile's sums
  static constexpr unsigned A_ROW = 2 * TILE_K, B_ROW = 2 * TILE_N;  // bytes
  static constexpr unsigned A_TILE = TILE_M * A_ROW, TILE = A_TILE + TILE_K * B_ROW, SHARED_BYTES = STAGES * TILE;
  static_assert(A_ROW == 128 && B_ROW % 128 == 0, "rows begin at bank 0: a row's number swizzles it");
  // A thread copies one chunk of every A_STEP-th row of A's tile, and of every B_STEP-th of B's.
  static constexpr int A_CHUNKS = TILE_K / CHUNK, A_STEP = THREADS / A_CHUNKS, A_COPIES = TILE_M / A_STEP;
  static constexpr int B_CHUNKS = TILE_N / CHUNK, B_STEP = THREADS / B_CHUNKS, B_COPIES = TILE_K / B_STEP;
  static constexpr int COPIES = A_COPIES + B_COPIES;
  static_assert(A_STEP % 8 == 0 && B_STEP % 8 == 0 && A_COPIES * A_STEP == TILE_M && B_COPIES * B_STEP == TILE_K);

  // Where the k-tile behind the one at `stage` lies, in bytes.
  __device__ static unsigned behind(unsigned stage) { return stage + TILE < SHARED_BYTES ? stage + TILE : 0; }
};

using Large = Shape<128, 256, 64, 4, 1>;
using Tall = Shape<256, 128, 64, 4, 1>;
using Small = Shape<128, 128, 64, 3, 2>;  // for small products, and for GPUs with 100 KB a block

inline bool large_pays(const gemm::HgemmProblem& p) {
  const gemm::DeviceLimits device = gemm::device_limits();
  const std::int64_t tiles = std::int64_t{gemm::ceil_div(p.m, Large::TILE_M)} * gemm::ceil_div(p.n, Large::TILE_N);
  return tiles >= device.multiprocessors && Large::SHARED_BYTES <= static_cast<unsigned>(device.shared_bytes_per_block);
}

}  // namespace pipeline

// Stage 03b: parts of tiles, stored and added up.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/kernel/launch.cuh"
#include "common/kernel/ptx.cuh"
#include "common/kernel/schedule.cuh"
#include "common/problem/problem.hpp"
#include "tensorcore/pipeline/plan.cuh"
#include "tensorcore/pipeline/shape.cuh"

namespace pipeline {

// A thread's sums, as four after four of a part of the block. begins: with the first k-tile of a tile.
template <class S>
__device__ __forceinline__ void store_part(float4* __restrict__ parts, bool begins, const float (&sum)[ROWS][COLS][4]) {
  float4* const to = parts + gemm::part_at(blockIdx.x, begins) * S::FOURS + threadIdx.x;
#pragma unroll
  for (int i = 0; i < ROWS * COLS; ++i) {
    const float* four = sum[i / COLS][i % COLS];
    to[i * S::THREADS] = make_float4(four[0], four[1], four[2], four[3]);
  }
}

// C of the tiles that several blocks have parts of: a thread for each four sums of one of hgemm's. Parts are added in the
// order of k, whoever was first to finish: the result is the same from run to run.
template <class S>
__global__ void reduce(Plan plan, int m, int n, float alpha, float beta, float* __restrict__ c, std::int64_t ldc,
                       const float4* __restrict__ parts) {
  const int shared = blockIdx.x / (ROWS * COLS), four = blockIdx.x % (ROWS * COLS), thread = threadIdx.x;
  const int round = shared * plan.rounds, lane = thread % 32, warp = thread / 32;
  const int from = plan.shares().worker_of(round), to = plan.shares().worker_of(round + plan.rounds - 1);
  gemm::ptx::wait_for_launch_ahead();
  if (from == to) return;  // it had the whole tile, and has stored it
  const auto at = [&](int block, bool begins) {
    return parts[gemm::part_at(block, begins) * S::FOURS + four * S::THREADS + thread];
  };
  float4 sum = at(from, true);
#pragma unroll 8
  for (int block = from + 1; block <= to; ++block) {
    const float4 part = at(block, false);
    sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
  }
  int tile_row, tile_col;
  plan.place<S>(plan.whole + shared, tile_row, tile_col);
  const int row = tile_row + warp / S::WARPS_N * WARP_M + four / COLS * 16 + lane / 4;
  const int col = tile_col + warp % S::WARPS_N * WARP_N + four % COLS * 8 + lane % 4 * 2;
  float* const out = c + row * ldc + col;
  const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float* const element = out + i / 2 * 8 * ldc + i % 2;
    if (row + i / 2 * 8 >= m || col + i % 2 >= n) continue;
    *element = beta == 0.0f ? alpha * sums[i] : alpha * sums[i] + beta * *element;
  }
}

// Enqueues reduce(), if blocks share tiles.
template <class S>
gemm::Status launch_reduce(const Plan& plan, const gemm::HgemmProblem& p, const float4* parts, cudaStream_t stream) {
  if (plan.shared_tiles() == 0) return gemm::Status::ok();
  const unsigned grid = plan.shared_tiles() * ROWS * COLS;
  return gemm::launch(reduce<S>, {.grid = grid, .block = S::THREADS, .stream = stream, .may_begin_early = true}, plan,
                      p.m, p.n, p.alpha, p.beta, p.c, p.ldc, parts);
}

// Two parts for each resident block: of the tile that its share begins in, and of the one that it ends in.
inline std::size_t parts_bytes() {
  const auto fours = std::max(Large::FOURS * Large::BLOCKS, Small::FOURS * Small::BLOCKS);
  return 2 * sizeof(float4) * fours * gemm::device_limits().multiprocessors;
}

}  // namespace pipeline

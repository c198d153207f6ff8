// Stage 18: a second kernel that adds up the parts of shared tiles.
#pragma once

#include <cuda_runtime.h>

#include "common/kernel/schedule.cuh"
#include "common/kernel/vector.cuh"
#include "stages/summit/layout.cuh"
#include "stages/summit/plan.cuh"

namespace gemm::summit {

constexpr int WIDTH = 64;  // float4s of C per block of reduce

// C of the tiles that more than one worker has parts of. Blocks of WIDTH x HEIGHT threads: each of the HEIGHT sums up
// every HEIGHT-th part, the first the sums. Always in the same order: the result is the same from run to run.
template <class S>
__global__ void reduce(int m, int n, float beta, float* __restrict__ c, std::int64_t ldc, Plan plan, bool wide,
                       const float4* __restrict__ parts) {
  constexpr int BLOCKS = S::TILE_M * S::TILE_N / 4 / WIDTH;  // of a tile
  __shared__ float4 sums[16][WIDTH];
  const int tile = blockIdx.x / BLOCKS, four = blockIdx.x % BLOCKS * WIDTH + threadIdx.x;
  const int begin = tile * plan.rounds;
  const int from = plan.shares().worker_of(begin), to = plan.shares().worker_of(begin + plan.rounds - 1);
  if (from == to) return;  // it had the whole tile, and has stored it
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
  for (int worker = from + threadIdx.y; worker <= to; worker += blockDim.y)
    sum = sum + parts[part_at(worker, plan.shares().begin(worker) < begin) * PART<S> + four];
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return;
  for (int i = 1; i < static_cast<int>(blockDim.y); ++i) sum = sum + sums[i][threadIdx.x];
  int tile_m, tile_n;
  plan.place(tile, tile_m, tile_n);
  const int thread = four % S::THREADS, i = four / S::THREADS;
  const int row = tile_m * S::TILE_M + first_row<S>(thread) + row_of<S>(i);
  const int col = tile_n * S::TILE_N + first_col<S>(thread) + col_of<S>(i);
  if (row < m) store_scaled4(c + row * ldc + col, n - col, wide, sum, beta);
}

}  // namespace gemm::summit

// Stages 16b, 17b and 17c: tiles that several workers have parts of. Stage 18 has its own (reduce.cuh).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "common/kernel/launch.cuh"
#include "common/kernel/schedule.cuh"
#include "stages/summit/tile.cuh"

namespace gemm::summit {

constexpr int FOURS = ROWS * COLS / 4, PART = FOURS * THREADS;  // float4s of a thread's outputs, and a block's

// The sum of a thread's float4 number `four` over all parts of a tile. They are added in the order of k, whichever block
// finished first: results agree from run to run. False: one worker had the whole tile, and has stored it.
__device__ inline bool sum_of_parts(const StreamK& plan, const float4* __restrict__ parts, int tile, int four,
                                    int thread, float4& sum) {
  const int begin = tile * plan.rounds;
  const int from = plan.shares().worker_of(begin), to = plan.shares().worker_of(begin + plan.rounds - 1);
  if (from == to) return false;
  // Only the first of them can have come from another tile, and then this is the second part that it has stored.
  const auto at = [&](int worker, bool second) {
    return parts[part_at(worker, second) * PART + four * THREADS + thread];
  };
  sum = at(from, plan.shares().begin(from) < begin);
#pragma unroll 16
  for (int worker = from + 1; worker <= to; ++worker) {
    const float4 part = at(worker, false);
    sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
  }
  return true;
}

// The bytes that the parts take: two per worker, and at most as many workers as resident blocks.
inline std::size_t part_bytes(int blocks_per_sm) {
  return 2 * sizeof(float4) * PART * device_limits().multiprocessors * blocks_per_sm;
}

}  // namespace gemm::summit

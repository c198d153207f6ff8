// Stage 18: the end of a tile. Slices add up their sums; a complete tile goes to C, a worker's part to the workspace.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/kernel/schedule.cuh"
#include "common/kernel/vector.cuh"
#include "stages/summit/layout.cuh"
#include "stages/summit/plan.cuh"
#include "stages/summit/shape.cuh"

namespace gemm::summit {

// Has the compiler find out again what depends on these, so that no registers hold it during the loop.
__device__ __forceinline__ void find_again(int& part, int& thread) {
#ifdef __CUDACC__
  asm volatile("" : "+r"(part));
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
#endif
}

// A thread's sums times alpha, by float4s. In all cases: a sum stored as it is would have to lie in four registers in a
// row with its neighbours, and then one FFMA in 30 would read its three words from one register bank.
template <class S>
__device__ __forceinline__ void scale(float4 (&fours)[S::SLICES * S::FOURS], float alpha,
                                      const float (&sum)[S::ROWS][S::COLS]) {
#pragma unroll
  for (int i = 0; i < S::SLICES * S::FOURS; ++i) {
    const int r = i / (S::COLS / 4), g = i % (S::COLS / 4) * 4;
    fours[i] = scaled4(alpha, &sum[r][g]);
  }
}

// Adds up the slices' sums. fours: the thread's part of its slice's tile; then S::FOURS float4s of the sum of all slices,
// from first_row() on. Two slices at a time: each gets the other's sums for one half of the rows, and keeps that half.
// again: shared memory is written again afterwards, so all threads must have finished reading it.
template <class S>
__device__ __forceinline__ void add_slices(float4 (&fours)[S::SLICES * S::FOURS], int thread, bool again) {
  if (S::SLICES == 1 && again) __syncthreads();  // nobody reads zeros any more
  float4* const exchange = reinterpret_cast<float4*>(smem);
  const auto halve = [&](auto slices) {  // two halves of `slices` slices
    constexpr int SLICES = decltype(slices)::value, KEPT = SLICES * S::FOURS;
    const int partner = thread ^ (SLICES * 32 * S::WARPS);
    const bool upper = thread > partner;
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
      const float4 low = fours[i], high = fours[KEPT + i];
      exchange[i * S::THREADS + thread] = upper ? low : high;
      fours[i] = upper ? high : low;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < KEPT; ++i) fours[i] = fours[i] + exchange[i * S::THREADS + partner];
    if (SLICES > 1 || again) __syncthreads();
  };
  static_assert(S::SLICES == 1 || S::SLICES == 2 || S::SLICES == 4);
  if constexpr (S::SLICES == 4) halve(std::integral_constant<int, 2>{});
  if constexpr (S::SLICES >= 2) halve(std::integral_constant<int, 1>{});
}

// Where a thread's float4s of a tile of C go. wide: C's rows start at multiples of 16 bytes. Else they go through shared
// memory, from which a warp can store words that are neighbours.
template <class S>
struct Outputs {
  int m, n;
  float beta;
  float* c;
  std::int64_t ldc;
  bool wide;
  int tile_m, tile_n, thread;
  const int row0 = tile_m * S::TILE_M + first_row<S>(thread), col0 = tile_n * S::TILE_N + first_col<S>(thread);

  // The thread's i-th float4, scaled by alpha.
  __device__ __forceinline__ void put(int i, float4 four) const {
    const int row = row_of<S>(i), col = col_of<S>(i);
    if (wide) {
      if (row0 + row < m) store_scaled4(c + (row0 + row) * ldc + col0 + col, n - col0 - col, wide, four, beta);
    } else {
      *reinterpret_cast<float4*>(smem + (first_row<S>(thread) + row) * S::C_ROW + first_col<S>(thread) + col) = four;
    }
  }

  // Where C is not wide: from shared memory to C, after all threads have put theirs.
  __device__ __forceinline__ void copy_rows() const {
    __syncthreads();
    for (int row = thread / 32; row < min(S::TILE_M, m - tile_m * S::TILE_M); row += S::THREADS / 32) {
      float* const to_row = c + (tile_m * S::TILE_M + row) * ldc + tile_n * S::TILE_N;
#pragma unroll
      for (int col = thread % 32; col < S::TILE_N; col += 32) {
        if (col >= n - tile_n * S::TILE_N) break;
        const float word = smem[row * S::C_ROW + col];
        to_row[col] = beta == 0.0f ? word : word + beta * to_row[col];
      }
    }
  }
};

// A complete tile goes to C, a part of one to the workspace, in an order that suits the threads. part: where the thread's
// first float4 of it goes.
template <class S>
__device__ __forceinline__ void give(const float4 (&fours)[S::SLICES * S::FOURS], bool complete,
                                     const Outputs<S>& outputs, float4* part) {
#pragma unroll
  for (int i = 0; i < S::FOURS; ++i) {
    if (complete) {
      outputs.put(i, fours[i]);
    } else {
      part[i * S::THREADS] = fours[i];
    }
  }
}

// The workers that have parts of a tile: `from` to `until`, that one included.
struct Workers {
  int from, until;
  __device__ __forceinline__ Workers(const Plan& plan, int tile)
      : from(plan.shares().worker_of(tile * plan.rounds)),
        until(plan.shares().worker_of((tile + 1) * plan.rounds - 1)) {}

  // Draws the tile's next ticket, 0 at first. True: it was the last one, and the next one is 0 again.
  __device__ __forceinline__ bool draw_last(unsigned* ticket) const {
    return static_cast<int>(atomicInc(ticket, until - from)) == until - from;
  }

  // A thread's first float4 in the first worker's part: only this one can have come from another tile.
  template <class S>
  __device__ __forceinline__ const float4* head(const Plan& plan, int tile, const float4* parts, int thread) const {
    return parts + part_at(from, plan.shares().begin(from) < tile * plan.rounds) * PART<S> + thread;
  }
};

// Float4s that a thread adds up at a time, as registers allow.
template <class S>
constexpr int AT_ONCE = S::FOURS < 16 ? std::min(S::FOURS, 4) : 8;

}  // namespace gemm::summit

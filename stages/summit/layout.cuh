// Stage 18: which elements of C a thread has, and where its sums lie in the workspace.
#pragma once

#include <cuda_runtime.h>

#include "stages/summit/shape.cuh"

namespace gemm::summit {

__device__ inline float4 operator+(float4 x, float4 y) {
  return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// Stores four sums, alpha included, of which `inside` are elements of C. `wide`: C's rows start at multiples of 16
// bytes.
__device__ inline void store4(float* out, int inside, bool wide, float4 sum, float beta) {
  if (wide && beta == 0.0f && inside >= 4) {
    *reinterpret_cast<float4*>(out) = sum;
    return;
  }
  const float s[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < inside) out[i] = beta == 0.0f ? s[i] : s[i] + beta * out[i];
  }
}

// The lane's rows and columns, four of each: bit 0 of its number belongs to the columns, bit 1 to the rows, because
// 16-byte loads whose lanes pair up so take half the cycles.
template <class S>
__device__ int lane_row(int lane) {
  return 4 * (S::LANES_M == 8 ? lane / 2 % 2 + lane / 8 * 2 : lane / 2 % 2 + lane / 16 * 2);
}
template <class S>
__device__ int lane_col(int lane) {
  return 4 * (S::LANES_M == 8 ? lane % 2 + lane / 4 % 2 * 2 : lane % 2 + lane / 4 % 4 * 2);
}
// Where in its tile a thread's sums begin, and its outputs; and where its i-th float4 lies from there.
template <class S>
__device__ int sums_row(int thread) {
  return thread / 32 % S::WARPS / (S::TILE_N / S::WARP_N) * S::WARP_M + lane_row<S>(thread % 32);
}
template <class S>
__device__ int first_col(int thread) {
  return thread / 32 % (S::TILE_N / S::WARP_N) * S::WARP_N + lane_col<S>(thread % 32);
}
template <class S>
__device__ int row_of(int i) {
  const int row = i / (S::COLS / 4);
  return row / 4 * 4 * S::LANES_M + row % 4;
}
template <class S>
__device__ int first_row(int thread) {
  return sums_row<S>(thread) + row_of<S>(thread / 32 / S::WARPS * S::FOURS);
}
template <class S>
__device__ int col_of(int i) {
  return i % (S::COLS / 4) * 4 * S::LANES_N;
}

// Where a worker's parts begin in the workspace: of the tile that it starts in, and of one that it goes on with.
template <class S>
__device__ std::size_t part_at(int worker, bool second) {
  return static_cast<std::size_t>(2 * worker + second) * (S::TILE_M * S::TILE_N / 4);
}

}  // namespace gemm::summit

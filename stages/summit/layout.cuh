// Stage 18: which elements of C a thread has.
#pragma once

#include <cuda_runtime.h>

#include "stages/summit/shape.cuh"

namespace gemm::summit {

__device__ inline float4 operator+(float4 x, float4 y) {
  return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
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

template <class S>
constexpr int PART = S::TILE_M* S::TILE_N / 4;  // float4s of a tile

}  // namespace gemm::summit

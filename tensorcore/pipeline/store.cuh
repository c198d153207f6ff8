// Stages 03 and 03b: a lane's sums of a warp's part of a tile, stored to C. `to` is the element of its first sum.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "tensorcore/pipeline/shape.cuh"

namespace pipeline {

// All elements exist, and two side by side can be stored at once. C is not read.
__device__ __forceinline__ void store_pairs(float* to, std::int64_t eight_rows, float alpha,
                                            const float (&sum)[ROWS][COLS][4]) {
#pragma unroll
  for (int i = 0; i < 2 * ROWS; ++i) {
#pragma unroll
    for (int j = 0; j < COLS; ++j) {
      const float* two = &sum[i / 2][j][i % 2 * 2];
      *reinterpret_cast<float2*>(to + j * 8) = make_float2(alpha * two[0], alpha * two[1]);
    }
    to += eight_rows;
  }
}

// One by one, where `below` rows and `right` columns of C are left.
__device__ __forceinline__ void store_each(float* to, std::int64_t eight_rows, int below, int right, float alpha,
                                           float beta, const float (&sum)[ROWS][COLS][4]) {
#pragma unroll
  for (int i = 0; i < 2 * ROWS; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * COLS; ++j) {
      const int col = j / 2 * 8 + j % 2;
      if (i * 8 >= below || col >= right) continue;
      const float value = alpha * sum[i / 2][j / 2][i % 2 * 2 + j % 2];
      to[col] = beta == 0.0f ? value : value + beta * to[col];
    }
    to += eight_rows;
  }
}

}  // namespace pipeline

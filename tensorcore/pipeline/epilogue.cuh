// Stages 03 and 03b: a thread's sums go to C.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "tensorcore/pipeline/shape.cuh"

namespace pipeline {

// alpha sum + beta C for a thread's sums of a warp's tile: of rows 8 i and columns 8 j and 8 j + 1, counted from `out`,
// as far as these are among the `rows` and `cols` that exist. pairs: all exist, and two side by side can be stored at
// once.
__device__ __forceinline__ void store_sums(float* out, std::int64_t ldc, int rows, int cols, bool pairs, float alpha,
                                           const float (&sum)[ROWS][COLS][4], float beta) {
  if (pairs && beta == 0.0f) {
#pragma unroll
    for (int i = 0; i < 2 * ROWS; ++i) {
#pragma unroll
      for (int j = 0; j < COLS; ++j) {
        const float* two = &sum[i / 2][j][i % 2 * 2];
        *reinterpret_cast<float2*>(out + j * 8) = make_float2(alpha * two[0], alpha * two[1]);
      }
      out += 8 * ldc;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 2 * ROWS; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * COLS; ++j) {
      const int col = j / 2 * 8 + j % 2;
      if (i * 8 >= rows || col >= cols) continue;
      const float value = alpha * sum[i / 2][j / 2][i % 2 * 2 + j % 2];
      out[col] = beta == 0.0f ? value : value + beta * out[col];
    }
    out += 8 * ldc;
  }
}

}  // namespace pipeline

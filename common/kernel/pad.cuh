// A matrix copied with zeros around it, so that a kernel's loads need no bounds checks. Stage 06a teaches it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/launch.cuh"

namespace gemm {

constexpr int PAD_TILE = 32, PAD_ROWS = 8;  // a block copies PAD_TILE x PAD_TILE words, PAD_ROWS rows at a time

/// The next multiple.
constexpr int round_up(int size, int multiple) {
  return ceil_div(size, multiple) * multiple;
}

static __global__ void __launch_bounds__(PAD_TILE* PAD_ROWS)
    pad(int rows, int cols, const float* __restrict__ from, std::int64_t ld, float* __restrict__ to, int padded_rows,
        int padded_cols, int tiles_n) {
  const int row = blockIdx.x / tiles_n * PAD_TILE + threadIdx.y, col = blockIdx.x % tiles_n * PAD_TILE + threadIdx.x;
  if (col >= padded_cols) return;
  for (int y = row; y < min(row + PAD_TILE, padded_rows); y += PAD_ROWS)
    to[static_cast<std::int64_t>(y) * padded_cols + col] = y < rows && col < cols ? from[y * ld + col] : 0.0f;
}

/// Copies a matrix of rows x cols words into one of padded_rows x padded_cols, with zeros right of it and below.
static Status copy_padded(int rows, int cols, const float* from, std::int64_t ld, float* to, int padded_rows,
                          int padded_cols, cudaStream_t stream) {
  const int tiles_m = ceil_div(padded_rows, PAD_TILE), tiles_n = ceil_div(padded_cols, PAD_TILE);
  return launch(pad,
                {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {PAD_TILE, PAD_ROWS}, .stream = stream},
                rows, cols, from, ld, to, padded_rows, padded_cols, tiles_n);
}

}  // namespace gemm

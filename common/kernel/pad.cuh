// A matrix copied with zeros around it, so that a kernel's loads need no bounds checks, and copied back without them.
// Stage 06a has the same in its own file; its page is about what this costs and saves.
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

/// Writes to_rows x to_cols words of `to`: those of `from` where it has one, which is rows x cols, and zeros elsewhere.
static __global__ void __launch_bounds__(PAD_TILE* PAD_ROWS)
    pad(int rows, int cols, const float* __restrict__ from, std::int64_t ld, int to_rows, int to_cols,
        float* __restrict__ to, std::int64_t ld_to, int tiles_n) {
  const int row = blockIdx.x / tiles_n * PAD_TILE + threadIdx.y, col = blockIdx.x % tiles_n * PAD_TILE + threadIdx.x;
  if (col >= to_cols) return;
  for (int y = row; y < min(row + PAD_TILE, to_rows); y += PAD_ROWS)
    to[y * ld_to + col] = y < rows && col < cols ? from[y * ld + col] : 0.0f;
}

/// As pad() says, whose rows are ld and ld_to words long.
static Status launch_pad(int rows, int cols, const float* from, std::int64_t ld, int to_rows, int to_cols, float* to,
                         std::int64_t ld_to, cudaStream_t stream) {
  const int tiles_m = ceil_div(to_rows, PAD_TILE), tiles_n = ceil_div(to_cols, PAD_TILE);
  return launch(pad,
                {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {PAD_TILE, PAD_ROWS}, .stream = stream},
                rows, cols, from, ld, to_rows, to_cols, to, ld_to, tiles_n);
}

/// The bytes that multiply_padded() needs of the workspace.
template <class Problem>
std::size_t padded_bytes(const Problem& p, int tile_m, int tile_n, int tile_k) {
  const std::size_t m = round_up(p.m, tile_m), n = round_up(p.n, tile_n), k = round_up(p.depth(), tile_k);
  return sizeof(float) * (m * k + k * n + m * n);
}

/// A product as "SGEMM on Pascal" has it from kernel 5 on: A, B and C are copied with zeros up to whole tiles, multiplied
/// by `multiply`, a stage's launch without bounds checks, and C is copied back without the zeros.
template <class Problem>
Status multiply_padded(const Problem& p, int tile_m, int tile_n, int tile_k,
                       Status (*multiply)(const Problem&, cudaStream_t), cudaStream_t stream) {
  const int m = round_up(p.m, tile_m), n = round_up(p.n, tile_n), k = round_up(p.depth(), tile_k);
  float* const a = p.workspace;
  float* const b = a + static_cast<std::size_t>(m) * k;
  float* const c = b + static_cast<std::size_t>(k) * n;
  Problem padded = p;
  padded.m = m, padded.n = n, padded.k = k;
  padded.a = a, padded.lda = k;
  padded.b = b, padded.ldb = n;
  padded.c = c, padded.ldc = n;
  Status status = launch_pad(p.m, p.depth(), p.a, p.lda, m, k, a, k, stream);
  if (status) status = launch_pad(p.depth(), p.n, p.b, p.ldb, k, n, b, n, stream);
  if (status && p.beta != 0.0f) status = launch_pad(p.m, p.n, p.c, p.ldc, m, n, c, n, stream);
  if (status) status = multiply(padded, stream);
  if (status) status = launch_pad(m, n, c, n, p.m, p.n, p.c, p.ldc, stream);
  return status;
}

}  // namespace gemm

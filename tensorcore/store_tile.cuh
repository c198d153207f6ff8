// Stages 01b, 02 and 07: a warp's fragment of sums goes to C, as in stage 01, which teaches it.
#pragma once

#include <mma.h>

#include <cstdint>

namespace wmma = nvcuda::wmma;
constexpr int STEP = 16, LANES = 32;  // rows, columns and steps of k of a fragment; lanes of a warp
using Sum = wmma::fragment<wmma::accumulator, STEP, STEP, STEP, float>;
static_assert(STEP * STEP % LANES == 0, "lanes share a tile's elements evenly");

// alpha sum + beta C for the elements of a tile of C, from (row, col) on, that exist. aligned: the tile can be loaded
// and stored where it is, if it is whole. staging: STEP x STEP words of shared memory of the warp.
__device__ inline void store_tile(float* c, std::int64_t ldc, int row, int col, int m, int n, bool aligned, float alpha,
                                  Sum& sum, float beta, float* staging) {
  float* const out = c + row * ldc + col;
  if (aligned && row + STEP <= m && col + STEP <= n) {
    // Two fragments of a kind have the same element in the same place, so C need not be told apart.
    Sum old;
    wmma::fill_fragment(old, 0.0f);
    if (beta != 0.0f) wmma::load_matrix_sync(old, out, static_cast<unsigned>(ldc), wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * old.x[i];
    wmma::store_matrix_sync(out, sum, static_cast<unsigned>(ldc), wmma::mem_row_major);
    return;
  }
  wmma::store_matrix_sync(staging, sum, STEP, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x % LANES; i < STEP * STEP; i += LANES) {
    if (row + i / STEP >= m || col + i % STEP >= n) continue;
    float* const element = out + i / STEP * ldc + i % STEP;
    *element = beta == 0.0f ? alpha * staging[i] : alpha * staging[i] + beta * *element;
  }
  __syncwarp();  // the staging tile may be overwritten
}

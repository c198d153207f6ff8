// Stages 16b, 17c and 18: A and B copied into panels; A transposed, or in quads of four steps of k.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/launch.cuh"

namespace gemm::summit {

// A copy of a matrix in panels: all steps of k of 128 rows of A, or columns of B, then of the next 128. Zeros outside.
struct Packing {
  const float* from;
  std::int64_t ld;
  int width;  // rows of A, columns of B
  float* to;
};
constexpr int PANEL = 128;
// Steps of k in a panel. QUADS: A's panels consist of quads of steps, so k is rounded up.
template <bool QUADS>
__host__ __device__ constexpr int panel_steps(int k) {
  return QUADS ? (k + 3) / 4 * 4 : k;
}
inline std::size_t packed_words(int width, int k) {
  return static_cast<std::size_t>(ceil_div(width, PANEL)) * PANEL * k;
}

// Blocks of 32 x 8 threads, for 32 x 32 words of A, which they transpose, or 16 rows of 128 words of B. Word by word,
// because a warp's words are then neighbours whatever the alignment.
constexpr int PACK_ROWS = 8, PACK_B_ROWS = 16;
__host__ __device__ inline int pack_a_blocks(int m, int k) {
  return ceil_div(m, PANEL) * (PANEL / 32) * ceil_div(k, 32);
}

// QUADS: not transposed. Four steps of k of 128 rows of A, each row's together; panels have whole quads then, B's, too.
template <bool QUADS>
static __global__ void pack(Packing a, Packing b, int k) {
  __shared__ float words[32][QUADS ? 36 : 33];  // by rows, or transposed: without bank conflicts
  const int x = threadIdx.x, y = threadIdx.y, a_blocks = pack_a_blocks(a.width, k);
  const int steps = panel_steps<QUADS>(k);
  if (static_cast<int>(blockIdx.x) < a_blocks) {
    const int across = ceil_div(k, 32), row = blockIdx.x / across * 32, col = blockIdx.x % across * 32;
#pragma unroll
    for (int i = 0; i < 32; i += PACK_ROWS) {
      const bool inside = row + y + i < a.width && col + x < k;
      (QUADS ? words[y + i][x] : words[x][y + i]) = inside ? a.from[(row + y + i) * a.ld + col + x] : 0.0f;
    }
    __syncthreads();
    float* const to =
        a.to + (static_cast<std::size_t>(row / PANEL) * steps + col) * PANEL + (QUADS ? 4 : 1) * (row % PANEL) + x;
#pragma unroll
    for (int i = 0; i < 32; i += PACK_ROWS) {
      const int step = QUADS ? 4 * y : y + i;
      if (col + step < k)
        to[step * PANEL + (QUADS ? 4 * i : 0)] = QUADS ? words[i + x / 4][step + x % 4] : words[step][x];
    }
  } else {
    const int block = blockIdx.x - a_blocks, down = ceil_div(k, PACK_B_ROWS);
    const int col = block / down * PANEL + x, row = block % down * PACK_B_ROWS + y;
    float* const to = b.to + (static_cast<std::size_t>(block / down) * steps + row) * PANEL + x;
    constexpr int ACROSS = PANEL / 32, COUNT = PACK_B_ROWS / PACK_ROWS * ACROSS;
    float words_of_b[COUNT];  // all in flight at once
#pragma unroll
    for (int w = 0; w < COUNT; ++w) {
      const int i = w / ACROSS * PACK_ROWS, j = w % ACROSS * 32;
      words_of_b[w] = row + i < k && col + j < b.width ? b.from[(row + i) * b.ld + col + j] : 0.0f;
    }
#pragma unroll
    for (int w = 0; w < COUNT; ++w) {
      const int i = w / ACROSS * PACK_ROWS, j = w % ACROSS * 32;
      if (row + i < steps) to[i * PANEL + j] = words_of_b[w];
    }
  }
}

// Enqueues pack(). A product of no steps of k has nothing to pack.
template <bool QUADS>
Status launch_pack(const Packing& a, const Packing& b, int k, cudaStream_t stream) {
  if (k == 0) return Status::ok();
  const unsigned blocks = pack_a_blocks(a.width, k) + ceil_div(b.width, PANEL) * ceil_div(k, PACK_B_ROWS);
  return launch(pack<QUADS>, {.grid = blocks, .block = {32, PACK_ROWS}, .stream = stream}, a, b, k);
}

}  // namespace gemm::summit

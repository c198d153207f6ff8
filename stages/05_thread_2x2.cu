// 05 thread 2x2: four elements of C per thread. A thread uses each word that it reads from shared memory twice.
//
// Idea      Reuse in registers. Two words of A and two of B give four products. With one element per thread, as in 04,
//           each product needs two words.
// Base      04_conflict_free
// Change    A block is 16 x 16 threads, still on a 32 x 32 tile of C. Thread (tx, ty) computes the elements (ty, tx),
//           (ty + 16, tx), (ty, tx + 16) and (ty + 16, tx + 16). To fill the tiles, each warp copies whole rows.
// Limit     Shared memory. A warp is now two rows of 16 threads. bs[i][tx]: 16 neighbouring words, 1 cycle.
//           as[ty][i]: two words, 32 apart, so in one bank: 2 cycles. 2 * 2 + 2 * 1 = 6 cycles for 4 warp-wide FMAs,
//           1.5 for one: 0.25 / 1.5 = 16.7 % of the FP32 peak.
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld per warp-wide FMA. (nvcc reads four steps of A at once:
//           0.75 as compiled, half of 04's. The page has the sum.)
// Map       block (16, 16); four elements, 16 apart in each direction, of a 32 x 32 tile of C.
// Page      docs/stages/05_thread_2x2.md
// Source    "SGEMM on Pascal", kernel 4.
#include "common/stage.cuh"

namespace {

constexpr int TILE = 32;        // rows and columns of C per block, and steps of k between barriers
constexpr int HALF = TILE / 2;  // rows and columns of threads; a thread's elements are as far apart
constexpr int THREADS = HALF * HALF;
constexpr int FILL = THREADS / TILE;  // rows of a tile that the block fills at a time
static_assert(TILE % 2 == 0 && THREADS <= 1024, "2 x 2 elements per thread, and a block of at most 1024 threads");
static_assert(THREADS % TILE == 0 && TILE % FILL == 0, "the block fills whole rows, and a tile is a multiple of them");

// PAD: unused words after each row of A's tile, for the variants.
template <int PAD>
__global__ void __launch_bounds__(THREADS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  alignas(16) __shared__ float as[TILE][TILE + PAD];  // aligned so that nvcc may merge four loads
  __shared__ float bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * TILE, tile_col = blockIdx.x % tiles_n * TILE;
  // To fill the tiles, threads are numbered anew: a warp copies 32 neighbouring words.
  const int fill_col = (ty * HALF + tx) % TILE, fill_row = (ty * HALF + tx) / TILE;

  float sum[2][2] = {};
  for (int k0 = 0; k0 < k; k0 += TILE) {
    // Outside the matrices the tiles hold zeros: they add nothing, and every thread stays to reach the barriers.
    for (int y = fill_row, step = 0; step < TILE / FILL; ++step, y += FILL) {
      as[y][fill_col] = tile_row + y < m && k0 + fill_col < k ? a[(tile_row + y) * lda + k0 + fill_col] : 0.0f;
      bs[y][fill_col] = k0 + y < k && tile_col + fill_col < n ? b[(k0 + y) * ldb + tile_col + fill_col] : 0.0f;
    }
    __syncthreads();  // the tiles are complete
#pragma unroll 8
    for (int i = 0; i < TILE; ++i) {
      const float a0 = as[ty][i], a1 = as[ty + HALF][i];
      const float b0 = bs[i][tx], b1 = bs[i][tx + HALF];
      sum[0][0] += a0 * b0;
      sum[0][1] += a0 * b1;
      sum[1][0] += a1 * b0;
      sum[1][1] += a1 * b1;
    }
    __syncthreads();  // nobody reads them any more
  }

  for (int r = 0; r < 2; ++r) {
    for (int s = 0; s < 2; ++s) {
      const int row = tile_row + ty + HALF * r, col = tile_col + tx + HALF * s;
      if (row >= m || col >= n) continue;
      float* out = c + row * ldc + col;
      // beta = 0 must not read C, which may hold NaN
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

template <int PAD>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(p.m, TILE), tiles_n = gemm::ceil_div(p.n, TILE);
  return gemm::launch(sgemm<PAD>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {HALF, HALF}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

// Without the conflict, as written: 1 cycle for each of the four loads.
gemm::L1Cycles padded(const gemm::SgemmProblem&) {
  return {.shared = 1};
}

constexpr gemm::Variant variants[] = {
    {"pad=1", "rows of A's tile 33 words apart: no conflict, and no aligned four words to merge", launch<1>, padded},
    {"pad=4", "rows of A's tile 36 words apart: no conflict, and loads that nvcc can merge", launch<4>, padded},
};

constexpr gemm::StageInfo info = {
    .idea = "2 x 2 elements per thread: each word read from shared memory used twice",
    .base = "04",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 1.5}; },
    .launch = launch<0>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

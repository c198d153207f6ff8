// 07 register tile: each thread owns 8 x 4 elements of C and updates them by rank-1 products, from registers.
//
// Idea      For each k, read a column of A (8 words) and a row of B (4 words) into registers. Multiply each by each: 12
//           words for 32 FMAs. R x S elements need R + S words for R * S FMAs; the column of 8 in 06b needs 9 words for
//           8 FMAs.
// Base      05_thread_2x2
// Change    Since 05: 8 x 4 elements per thread in place of 2 x 2, in loops. As in 05, they lie 16 apart in a row. The
//           block's tile of C is 64 x 64, and so are the tiles in shared memory.
// Limit     Shared memory. A warp is two rows of 16 threads. Loads bs[i][tx + 16 s]: 1 cycle each, 4. Loads as[ty + 8
//           r][i]: two words, 64 apart, in one bank, 2 cycles each, 16. These 20 cycles for 32 warp-wide FMAs are 0.625
//           per FMA: 0.25 / 0.625 = 40 % of the FP32 peak.
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld per warp-wide FMA. (As compiled 0.25, as long as the FMA
//           itself takes, because nvcc reads four steps of A with one load. The page has the sum.)
// Map       block (16, 8); 8 rows, 8 apart, by 4 columns, 16 apart, of a 64 x 64 tile of C.
// Page      docs/stages/07_register_tile.md
// Source    "SGEMM on Pascal", kernel 6.
#include "common/stage.cuh"

namespace {

constexpr int TILE = 64;  // rows and columns of C per block, and steps of k between barriers
static_assert(2 * TILE * TILE * sizeof(float) <= 48 * 1024, "static shared memory ends at 48 KB");

// THREADS_X, THREADS_Y: threads of a block; also how far apart a thread's elements lie.
template <int THREADS_X, int THREADS_Y>
__global__ void __launch_bounds__(THREADS_X* THREADS_Y)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  constexpr int ROWS = TILE / THREADS_Y, COLS = TILE / THREADS_X;  // of C per thread
  constexpr int FILL = THREADS_X * THREADS_Y / TILE;               // rows of a tile that the block fills at a time
  static_assert(TILE % THREADS_X == 0 && TILE % THREADS_Y == 0, "every thread has the same number of elements");
  static_assert(THREADS_X * THREADS_Y % TILE == 0 && TILE % FILL == 0, "the block fills whole rows of a tile");
  __shared__ float as[TILE][TILE];
  __shared__ float bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * TILE, tile_col = blockIdx.x % tiles_n * TILE;
  const int fill_col = (ty * THREADS_X + tx) % TILE, fill_row = (ty * THREADS_X + tx) / TILE;  // where to start filling

  float sum[ROWS][COLS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE) {
    // Outside the matrices the tiles hold zeros: they add nothing, and every thread stays to reach the barriers.
#pragma unroll 8
    for (int y = fill_row, step = 0; step < TILE / FILL; ++step, y += FILL) {
      as[y][fill_col] = tile_row + y < m && k0 + fill_col < k ? a[(tile_row + y) * lda + k0 + fill_col] : 0.0f;
      bs[y][fill_col] = k0 + y < k && tile_col + fill_col < n ? b[(k0 + y) * ldb + tile_col + fill_col] : 0.0f;
    }
    __syncthreads();  // the tiles are complete
#pragma unroll 4
    for (int i = 0; i < TILE; ++i) {
      float a_part[ROWS], b_part[COLS];
      for (int r = 0; r < ROWS; ++r) a_part[r] = as[ty + THREADS_Y * r][i];
      for (int s = 0; s < COLS; ++s) b_part[s] = bs[i][tx + THREADS_X * s];
      for (int r = 0; r < ROWS; ++r)
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
    }
    __syncthreads();  // nobody reads them any more
  }

  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COLS; ++s) {
      const int row = tile_row + ty + THREADS_Y * r, col = tile_col + tx + THREADS_X * s;
      if (row >= m || col >= n) continue;
      float* out = c + row * ldc + col;
      // beta = 0 must not read C, which may hold NaN
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

template <int THREADS_X, int THREADS_Y>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(p.m, TILE), tiles_n = gemm::ceil_div(p.n, TILE);
  return gemm::launch(
      sgemm<THREADS_X, THREADS_Y>,
      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {THREADS_X, THREADS_Y}, .stream = stream}, p.m, p.n,
      p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

// For each k a warp reads, of A's tile, 32 / THREADS_X rows at a time, all in one bank; of B's, neighbouring words.
template <int THREADS_X, int THREADS_Y>
gemm::L1Cycles cycles(const gemm::SgemmProblem&) {
  constexpr double rows = TILE / THREADS_Y, cols = TILE / THREADS_X;
  return {.shared = (rows * (32 / THREADS_X) + cols) / (rows * cols)};
}

constexpr gemm::Variant variants[] = {
    {"4x8", "4 rows by 8 columns per thread, block (8, 16): another reading of the source", launch<8, 16>,
     cycles<8, 16>},
};

constexpr gemm::StageInfo info = {
    .idea = "8 x 4 elements per thread, rank-1 updates in registers, from square tiles in shared memory",
    .base = "05",
    .l1_cycles = cycles<16, 8>,
    .launch = launch<16, 8>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

// 05b column strip: a thread computes four elements of a column of C and reads each word of B once for all four.
//
// Idea      One word of B stays in a register and meets ROWS words of A: ROWS + 1 words for ROWS FMAs.
// Base      05_thread_2x2
// Change    4 x 1 elements per thread, not 2 x 2. A warp is one row of the tile again, as in 04. The loop over the steps
//           of k is unrolled in full.
// Limit     Shared memory. 1 cycle for B and 4 for A (each word the same for all lanes) are 5 for 4 FMAs, 1.25. But
//           nvcc merges four steps of A into one load, which leaves half a cycle of each: 3 for 4 FMAs, 0.75, as in 05.
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld per warp-wide FMA: 0.75. Its bank conflicts: none.
// Map       block (32, 8); threadIdx.x is the column, threadIdx.y the first row; the others are THREADS_Y = 8 apart.
// Page      docs/stages/05b_column_strip.md
// Source    "SGEMM on Pascal", kernel 5, without its padding: its text, which has 4 elements per thread.
#include "common/stage.cuh"

namespace {

constexpr int TILE = 32;                  // columns of C per block, and steps of k between barriers
constexpr int THREADS_Y = 8;              // rows between the elements of one thread: blockDim.y
constexpr int ROWS = 4;                   // elements of C per thread
constexpr int TILE_M = THREADS_Y * ROWS;  // rows of C per block
static_assert(TILE == 32, "a warp is one row of the tile");
static_assert(TILE % THREADS_Y == 0, "the threads fill B's tile in whole rounds");

template <int UNROLL>
__global__ void __launch_bounds__(TILE* THREADS_Y)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  __shared__ float as[TILE_M][TILE];
  __shared__ float bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, row = tile_row + ty;
  const int tile_col = blockIdx.x % tiles_n * TILE, col = tile_col + tx;

  float sum[ROWS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE) {
    // Outside the matrices the tiles hold zeros: they add nothing, and every thread stays to reach the barriers.
    for (int y = 0; y < TILE_M; y += THREADS_Y) {
      as[ty + y][tx] = row + y < m && k0 + tx < k ? a[(row + y) * lda + k0 + tx] : 0.0f;
    }
    for (int y = 0; y < TILE; y += THREADS_Y) {
      bs[ty + y][tx] = k0 + ty + y < k && col < n ? b[(k0 + ty + y) * ldb + col] : 0.0f;
    }
    __syncthreads();  // the tiles are complete
#pragma unroll UNROLL
    for (int i = 0; i < TILE; ++i) {
      const float b_part = bs[i][tx];
      for (int r = 0; r < ROWS; ++r) sum[r] += as[ty + r * THREADS_Y][i] * b_part;
    }
    __syncthreads();  // nobody reads them any more
  }

  for (int r = 0; r < ROWS; ++r) {
    if (row + r * THREADS_Y >= m || col >= n) return;
    float* out = c + (row + r * THREADS_Y) * ldc + col;
    *out = beta == 0.0f ? alpha * sum[r] : alpha * sum[r] + beta * *out;  // beta = 0 must not read C
  }
}

template <int UNROLL>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE);
  return gemm::launch(sgemm<UNROLL>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {TILE, THREADS_Y}, .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

constexpr gemm::Variant variants[] = {
    {"unroll=1", "the inner loop as a loop: no loads to merge", launch<1>},
    {"unroll=2", "two steps of k per iteration", launch<2>},
    {"unroll=4", "four steps of k per iteration", launch<4>},
};

constexpr gemm::StageInfo info = {
    .idea = "4 x 1 elements a thread: one word of B for 4 words of A",
    .base = "05",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = (ROWS + 1.0) / ROWS}; },
    .launch = launch<TILE>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

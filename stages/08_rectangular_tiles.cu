// 08 rectangular tiles: as 07, with tiles in shared memory that are long in m and n and short in k.
//
// Idea      How deep a tile is in k decides how often the block waits at a barrier, and nothing about reuse. A tile of
//           8 steps in place of 64 leaves room for 128 x 128 elements of C per block and 8 x 8 per thread.
// Base      07_register_tile
// Change    TILE becomes TILE_M, TILE_N and TILE_K. A's tile is filled 8 columns wide, so A and B are filled apart.
// Limit     The FP32 cores, for the first time. 16 words for 64 FMAs; bs[i][tx + 16 s]: 1 cycle. as[ty + 16 r][i]: two
//           words, now only 8 apart, so in two banks: 1 cycle, too. 16 cycles for 64 warp-wide FMAs: 0.25 for one,
//           which is what the FMA itself takes.
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld per warp-wide FMA: 0.25, and 0.19 as compiled. Then issue
//           slots decide (smsp__inst_executed): each instruction that is no FFMA takes one from an FFMA.
// Map       block (16, 16); 8 rows by 8 columns, 16 apart in each direction, of a 128 x 128 tile of C.
// Page      docs/stages/08_rectangular_tiles.md
// Source    "SGEMM on Pascal", kernel 7.
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 128, TILE_N = 128;      // rows and columns of C per block
constexpr int THREADS_X = 16, THREADS_Y = 16;  // threads of a block; also how far apart a thread's elements lie
constexpr int ROWS = TILE_M / THREADS_Y;       // of C per thread: 8 ...
constexpr int COLS = TILE_N / THREADS_X;       // ... by 8
constexpr int THREADS = THREADS_X * THREADS_Y;
static_assert(TILE_M % THREADS_Y == 0 && TILE_N % THREADS_X == 0 && THREADS <= 1024, "every thread has the same work");

// TILE_K: steps of k between barriers. Two blocks have to fit an SM, so that one computes while the other waits: no
// more than 128 registers a thread.
template <int TILE_K>
__global__ void __launch_bounds__(THREADS, 2)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  constexpr int FILL_A = THREADS / TILE_K, FILL_B = THREADS / TILE_N;  // rows that the block fills at a time
  static_assert(THREADS % TILE_K == 0 && TILE_M % FILL_A == 0, "the block fills whole rows of A's tile");
  static_assert(THREADS % TILE_N == 0 && TILE_K % FILL_B == 0, "the block fills whole rows of B's tile");
  __shared__ float as[TILE_M][TILE_K];
  __shared__ float bs[TILE_K][TILE_N];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * THREADS_X + tx;
  const int row0 = blockIdx.x / tiles_n * TILE_M, col0 = blockIdx.x % tiles_n * TILE_N;
  const int ax = t % TILE_K, ay = t / TILE_K, bx = t % TILE_N, by = t / TILE_N;  // where to start filling

  float sum[ROWS][COLS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    // Outside the matrices the tiles hold zeros: they add nothing, and every thread stays to reach the barriers.
    for (int y = ay, step = 0; step < TILE_M / FILL_A; ++step, y += FILL_A)
      as[y][ax] = row0 + y < m && k0 + ax < k ? a[(row0 + y) * lda + k0 + ax] : 0.0f;
    for (int y = by, step = 0; step < TILE_K / FILL_B; ++step, y += FILL_B)
      bs[y][bx] = k0 + y < k && col0 + bx < n ? b[(k0 + y) * ldb + col0 + bx] : 0.0f;
    __syncthreads();  // the tiles are complete
#pragma unroll 8
    for (int i = 0; i < TILE_K; ++i) {
      float a_col[ROWS], b_row[COLS];
      for (int r = 0; r < ROWS; ++r) a_col[r] = as[ty + THREADS_Y * r][i];
      for (int s = 0; s < COLS; ++s) b_row[s] = bs[i][tx + THREADS_X * s];
      for (int r = 0; r < ROWS; ++r)
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_col[r] * b_row[s];
    }
    __syncthreads();  // nobody reads them any more
  }

  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COLS; ++s) {
      const int row = row0 + ty + THREADS_Y * r, col = col0 + tx + THREADS_X * s;
      if (row >= m || col >= n) continue;
      float* out = c + row * ldc + col;
      // beta = 0 must not read C, which may hold NaN
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

template <int TILE_K>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(
      sgemm<TILE_K>,
      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {THREADS_X, THREADS_Y}, .stream = stream}, p.m, p.n,
      p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

// For each k a warp reads ROWS times two rows of A's tile, TILE_K words apart: in one bank if that is 32. And COLS
// times 16 neighbouring words of B's.
template <int TILE_K>
gemm::L1Cycles cycles(const gemm::SgemmProblem&) {
  return {.shared = (ROWS * (TILE_K % 32 == 0 ? 2.0 : 1.0) + COLS) / (ROWS * COLS)};
}

constexpr gemm::Variant variants[] = {
    {"k=16", "16 steps of k between barriers", launch<16>, cycles<16>},
    {"k=32", "32 steps of k between barriers: the rows of A's tile meet in one bank again", launch<32>, cycles<32>},
};

constexpr gemm::StageInfo info = {
    .idea = "8 x 8 elements per thread from 128 x 8 and 8 x 128 tiles in shared memory",
    .base = "07",
    .l1_cycles = cycles<8>,
    .launch = launch<8>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

// 08 rectangular tiles: as 07, with tiles in shared memory that are long in m and n and short in k.
//
// Idea      The size of a tile in k sets how often the block waits at a barrier. It does not change the reuse. With 8
//           steps in place of 64 there is room for 128 x 128 elements of C per block and 8 x 8 per thread.
// Base      07_register_tile
// Change    TILE becomes TILE_M, TILE_N and TILE_K. A's tile is 8 words wide, so A and B are filled by separate loops.
// Limit     The FP32 cores, for the first time. 16 words for 64 FMAs; bs[i][tx + 16 s]: 1 cycle. as[ty + 16 r][i]: two
//           words, now only 8 apart, so in two banks: 1 cycle, too. These 16 cycles for 64 warp-wide FMAs are 0.25 per
//           FMA, which is what the FMA itself takes.
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld per warp-wide FMA: 0.25, and 0.19 as compiled. Then issue
//           slots decide (smsp__inst_executed), because every instruction but an FFMA takes a slot from an FFMA.
// Map       block (16, 16); 8 rows by 8 columns, 16 apart in each direction, of a 128 x 128 tile of C.
// Page      docs/stages/08_rectangular_tiles.md
// Source    "SGEMM on Pascal", kernel 7.
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 128, TILE_N = 128;  // rows and columns of C per block
constexpr int SIDE = 16;                   // the block has SIDE x SIDE threads; a thread's elements lie SIDE apart
constexpr int ROWS = TILE_M / SIDE, COLS = TILE_N / SIDE;  // outputs of a thread: 8 x 8
constexpr int THREADS = SIDE * SIDE;
static_assert(TILE_M % SIDE == 0 && TILE_N % SIDE == 0 && THREADS <= 1024, "every thread has the same work");

// TILE_K: steps of k between barriers. Two blocks have to fit an SM, so that one computes while the other waits: at
// most 128 registers per thread.
template <int TILE_K>
__global__ void __launch_bounds__(THREADS, 2)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  constexpr int FILL_A = THREADS / TILE_K, FILL_B = THREADS / TILE_N;  // rows that the block fills at a time
  static_assert(THREADS % TILE_K == 0 && TILE_M % FILL_A == 0, "the block fills whole rows of A's tile");
  static_assert(THREADS % TILE_N == 0 && TILE_K % FILL_B == 0, "the block fills whole rows of B's tile");
  __shared__ float as[TILE_M][TILE_K];
  __shared__ float bs[TILE_K][TILE_N];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * SIDE + tx;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int a_k = thread % TILE_K, a_row = thread / TILE_K, b_col = thread % TILE_N,
            b_k = thread / TILE_N;  // where to start filling

  float sum[ROWS][COLS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    // Outside the matrices the tiles hold zeros: they add nothing, and every thread stays to reach the barriers.
    for (int y = a_row, step = 0; step < TILE_M / FILL_A; ++step, y += FILL_A)
      as[y][a_k] = tile_row + y < m && k0 + a_k < k ? a[(tile_row + y) * lda + k0 + a_k] : 0.0f;
    for (int y = b_k, step = 0; step < TILE_K / FILL_B; ++step, y += FILL_B)
      bs[y][b_col] = k0 + y < k && tile_col + b_col < n ? b[(k0 + y) * ldb + tile_col + b_col] : 0.0f;
    __syncthreads();  // the tiles are complete
#pragma unroll 8
    for (int i = 0; i < TILE_K; ++i) {
      float a_part[ROWS], b_part[COLS];
      for (int r = 0; r < ROWS; ++r) a_part[r] = as[ty + SIDE * r][i];
      for (int s = 0; s < COLS; ++s) b_part[s] = bs[i][tx + SIDE * s];
      for (int r = 0; r < ROWS; ++r)
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
    }
    __syncthreads();  // nobody reads them any more
  }

  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COLS; ++s) {
      const int row = tile_row + ty + SIDE * r, col = tile_col + tx + SIDE * s;
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
  return gemm::launch(sgemm<TILE_K>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {SIDE, SIDE}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
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

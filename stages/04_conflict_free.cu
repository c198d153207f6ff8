// 04 conflict-free: stage 03 with B's tile not transposed. The lanes of a warp read neighbouring words, which lie in
// different banks.
//
// Idea      Shared memory has 32 banks of 4 bytes; word w lies in bank w mod 32. A warp's read takes as many cycles as
//           the busiest bank has different words to deliver. Along a row each bank delivers one word: one cycle.
// Base      03_shared_tile
// Change    bs[tx][ty] becomes bs[ty][tx] where it is filled, bs[tx][i] becomes bs[i][tx] where it is read.
// Limit     Shared memory. With one element per thread it can do no better. A warp-wide FMA takes 1 cycle for A (the
//           same word for all lanes) and 1 for B. That is at most 0.25 / 2 = 12.5 % of the FP32 peak. Stage 02 has the
//           same bound, but issues twice as many instructions.
// Number    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld per warp-wide FMA: almost none; 7 in 03 on an H100.
// Map       block (32, 32); threadIdx.x is the column, threadIdx.y the row, of a 32 x 32 tile of C.
// Page      docs/stages/04_conflict_free.md
// Source    "SGEMM on Pascal", kernel 3.
#include "common/stage.cuh"

namespace {

constexpr int TILE = 32;  // rows and columns of C per block, and steps of k between barriers
static_assert(TILE * TILE <= 1024, "a block has at most 1024 threads");

__global__ void __launch_bounds__(TILE* TILE)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  __shared__ float as[TILE][TILE];
  __shared__ float bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.x / tiles_n * TILE + ty;
  const int col = blockIdx.x % tiles_n * TILE + tx;

  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += TILE) {
    // Outside the matrices the tiles hold zeros: they add nothing, and every thread stays to reach the barriers.
    as[ty][tx] = row < m && k0 + tx < k ? a[row * lda + k0 + tx] : 0.0f;
    bs[ty][tx] = k0 + ty < k && col < n ? b[(k0 + ty) * ldb + col] : 0.0f;
    __syncthreads();  // the tiles are complete
    for (int i = 0; i < TILE; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();  // nobody reads them any more
  }

  if (row >= m || col >= n) return;
  float* out = c + row * ldc + col;
  *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;  // beta = 0 must not read C, which may hold NaN
}

gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  // The grid is one-dimensional because gridDim.y stops at 65535 blocks.
  const int tiles_m = gemm::ceil_div(p.m, TILE), tiles_n = gemm::ceil_div(p.n, TILE);
  return gemm::launch(sgemm,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {TILE, TILE}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

constexpr gemm::StageInfo info = {
    .idea = "as 03 with B's tile the way it comes: no bank conflicts",
    .base = "03",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 2}; },
    .launch = launch,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

// 02 coalesced: stage 01 with threadIdx.x and threadIdx.y swapped. The lanes of a warp now lie side by side in a row
// of C.
//
// Idea      Neighbouring threads should read neighbouring addresses: the 32 loads of a warp then touch one line of
//           128 bytes.
// Base      01_naive
// Change    Two lines: which of x and y is the row.
// Limit     Still the L1 cache. For one step of k a warp reads one word of A, the same for all lanes: one cycle. It
//           reads 32 neighbouring words of B, one from each bank: one cycle. That is 2 cycles per warp-wide FMA, so the
//           kernel reaches at most 0.25 / 2 = 12.5 % of the FP32 peak.
// Number    l1tex__data_pipe_lsu_wavefronts over smsp__sass_thread_inst_executed_op_ffma / 32: 2.
// Map       block (32, 32); threadIdx.x is the column, threadIdx.y the row, of a 32 x 32 tile of C.
// Page      docs/stages/02_coalesced.md
// Source    PA2 report, optimisation 2.
#include "common/stage.cuh"

namespace {

constexpr int TILE = 32;  // rows and columns of C per block
static_assert(TILE * TILE <= 1024, "a block has at most 1024 threads");

__global__ void __launch_bounds__(TILE* TILE)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  const int row = blockIdx.x / tiles_n * TILE + threadIdx.y;
  const int col = blockIdx.x % tiles_n * TILE + threadIdx.x;  // x, the index that differs within a warp, goes along
  if (row >= m || col >= n) return;

  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];

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
    .idea = "as 01 with x and y swapped, lanes walk along a row: coalesced",
    .base = "01",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.global = 2}; },
    .launch = launch,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

// 01 naive: one thread computes one element of C and reads both operands from global memory. The lanes of a warp walk
// down a column.
//
// Idea      The definition of the product, one element per thread. All later stages improve on it.
// Limit     The L1 cache. For one step of k the 32 lanes of a warp read 32 rows of A. If lda is a multiple of 32, as it
//           often is, all 32 words lie in the same one of the L1's 32 banks. A bank delivers one word per cycle: 32
//           cycles. B is the same word for all lanes: 1. A warp-wide FMA thus needs 33 cycles of the L1 and 0.25 cycles
//           of the SM's FP32 cores. So the kernel reaches at most 0.25 / 33 = 0.76 % of the FP32 peak. (An odd lda uses
//           all banks. Then the look-up of 33 lines, four per cycle, takes 8.25 cycles.)
// Number    l1tex__data_pipe_lsu_wavefronts over smsp__sass_thread_inst_executed_op_ffma / 32: 33 at 2048.
// Map       block (32, 32); threadIdx.x is the row, threadIdx.y the column, of a 32 x 32 tile of C.
// Page      docs/stages/01_naive.md
// Source    "SGEMM on Pascal", kernel 1; PA2 report, naive version. Neither says which way the lanes go; this is the
//           slow way.
#include <algorithm>
#include <numeric>

#include "common/stage.cuh"

namespace {

constexpr int TILE = 32;  // rows and columns of C per block
static_assert(TILE * TILE <= 1024, "a block has at most 1024 threads");

__global__ void __launch_bounds__(TILE* TILE)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  const int row = blockIdx.x / tiles_n * TILE + threadIdx.x;  // x, the index that differs within a warp, goes down
  const int col = blockIdx.x % tiles_n * TILE + threadIdx.y;
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
    .idea = "one thread per element, lanes walk down a column: uncoalesced",
    .l1_cycles =
        [](const gemm::SgemmProblem& p) {
          // A's words meet in a bank if rows are a multiple of 32 words apart; 33 lines are looked up, four a cycle.
          return gemm::L1Cycles{.global = std::max<double>(std::gcd(p.lda, 32) + 1, 33 / 4.0)};
        },
    .launch = launch,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

// 01 naive: one thread computes one element of C, straight from global memory, and the lanes of a warp walk down a column.
//
// Idea      The definition of the product, one element per thread. Everything that follows improves on this.
// Limit     L1 wavefronts. For one step of k the 32 lanes of a warp read 32 rows of A: 32 cache lines, one pass through the
//           L1 data stage each. B is the same word for all lanes: one pass. 33 passes for 32 FMAs, at one pass a cycle and
//           SM, where the FP32 cores could do four warp-wide FMAs: 0.25 / 33 = 0.76 % of the FP32 peak.
// Number    l1tex__data_pipe_lsu_wavefronts over smsp__sass_thread_inst_executed_op_ffma / 32 should be 33.
// Map       block (32, 32); threadIdx.x is the row, threadIdx.y the column, of a 32 x 32 tile of C.
// Page      docs/stages/01_naive.md
// Source    "SGEMM on Pascal", kernel 1; PA2 report, naive version. Both leave the order of lanes open; this is the bad one.
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
  return gemm::launch(sgemm, {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {TILE, TILE}, .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

const gemm::Registration stage{__FILE__, {
    .idea = "one thread per element, lanes walk down a column: uncoalesced",
    .global_wavefronts = 33,
    .launch = launch,
}};

}  // namespace

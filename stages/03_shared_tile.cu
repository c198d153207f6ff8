// 03 shared tile: the block copies a tile of A and one of B into shared memory, and all its threads read them there.
// B's tile is stored transposed, as a CPU programmer would store it. That is a mistake: bank conflicts.
//
// Idea      Reuse. A block of 32 x 32 threads needs 32 rows of A and 32 columns of B. It now requests each word from
//           global memory once per block, not once per warp: a 32nd of the requests, a 20th of the sectors.
// Base      02_coalesced
// Change    The loop over k goes in steps of TILE: fill two tiles, barrier, multiply them, barrier.
// Limit     Shared memory. Lane x reads bs[x][i]. Neighbouring lanes read words that are 32 apart, which lie in the
//           same bank, and a bank delivers one word per cycle. 32 cycles for B and 1 for A (the same word for all
//           lanes): 33, no better than 01.
// Number    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld is not zero. (nvcc reads four steps of i with one
//           128-bit load, so the device needs fewer cycles than the source asks for: the page has both.)
// Map       block (32, 32); threadIdx.x is the column, threadIdx.y the row, of a 32 x 32 tile of C.
// Page      docs/stages/03_shared_tile.md
// Source    "SGEMM on Pascal", kernel 2; PA2 report, optimisation 1.
#include "common/stage.cuh"

namespace {

constexpr int TILE = 32;  // rows and columns of C per block, and steps of k between barriers
static_assert(TILE * TILE <= 1024, "a block has at most 1024 threads");

__global__ void __launch_bounds__(TILE* TILE)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  __shared__ float as[TILE][TILE];
  __shared__ float bs[TILE][TILE];  // transposed: bs[column][row]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.x / tiles_n * TILE + ty;
  const int col = blockIdx.x % tiles_n * TILE + tx;

  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += TILE) {
    // Outside the matrices the tiles hold zeros: they add nothing, and every thread stays to reach the barriers.
    as[ty][tx] = row < m && k0 + tx < k ? a[row * lda + k0 + tx] : 0.0f;
    bs[tx][ty] = k0 + ty < k && col < n ? b[(k0 + ty) * ldb + col] : 0.0f;
    __syncthreads();  // the tiles are complete
    for (int i = 0; i < TILE; ++i) sum += as[ty][i] * bs[tx][i];
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
    .idea = "tiles in shared memory, B's transposed: every word reused, every read a bank conflict",
    .base = "02",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 33}; },
    .launch = launch,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

// The contract of sgemm/05_vectorise: how the kernel in kernel.cuh is called. It is the teacher's.
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 64, TILE_N = 64, TILE_K = 16;  // rows and columns of C per block, and steps of k per k-tile
constexpr int THREADS = 128;                          // of a block
constexpr int ROWS = 8, COLS = 4;                     // of C per thread
static_assert(TILE_M * TILE_N == THREADS * ROWS * COLS);

}  // namespace

#include "kernel.cuh"

namespace {

gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const bool aligned =
      gemm::has_aligned_rows(p.a, p.lda) && gemm::has_aligned_rows(p.b, p.ldb) && gemm::has_aligned_rows(p.c, p.ldc);
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(aligned ? sgemm<true> : sgemm<false>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {THREADS}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

constexpr gemm::StageInfo info = {.idea = "sgemm/05_vectorise", .launch = launch};
const gemm::Registration registration{__FILE__, info};

}  // namespace

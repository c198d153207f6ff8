// The contract of sgemm/04_register_tile: how the kernel in kernel.cuh is called. It is the teacher's.
#include "common/stage.cuh"
#include "kernel.cuh"

namespace {

static_assert(TILE_M % THREADS_Y == 0 && TILE_N % THREADS_X == 0, "every thread has the same number of elements");
static_assert(THREADS_X * THREADS_Y % 32 == 0 && THREADS_X * THREADS_Y <= 1024, "whole warps, at most 1024 threads");
static_assert(TILE_M * TILE_N <= 128 * 128 && TILE_K >= 4 && TILE_K <= 64, "a tile of C is at most 128 x 128");

gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(
      sgemm, {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {THREADS_X, THREADS_Y}, .stream = stream}, p.m,
      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

constexpr gemm::StageInfo info = {.idea = "sgemm/04_register_tile", .launch = launch};
const gemm::Registration registration{__FILE__, info};

}  // namespace

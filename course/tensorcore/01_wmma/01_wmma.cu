// The contract of tensorcore/01_wmma: how the kernel in kernel.cuh is called. It is the teacher's; hand in kernel.cuh
// alone.
#include <mma.h>

#include "common/stage.cuh"

namespace wmma = nvcuda::wmma;

#include "kernel.cuh"

namespace {

static_assert(TILE_M == 64 && TILE_N == 32 && THREADS == 256, "a block of 8 warps has 64 x 32 of C");

gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, TILE_M), blocks_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(hgemm, {.grid = static_cast<unsigned>(blocks_m) * blocks_n, .block = THREADS, .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n);
}

constexpr gemm::StageInfo info = {
    .idea = "tensorcore/01_wmma", .accuracy = gemm::Accuracy::tensor_fp32, .launch = launch};
const gemm::Registration registration{__FILE__, info};

}  // namespace

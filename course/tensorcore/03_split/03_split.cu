// The contract of tensorcore/03_split: how the kernel in kernel.cuh is called. It is the teacher's; hand in kernel.cuh
// alone.
#include <mma.h>

#include "common/stage.cuh"

namespace wmma = nvcuda::wmma;

#include "kernel.cuh"

namespace {

static_assert(TILE == 32 && THREADS == 128, "a block of 4 warps has 32 x 32 of C");

gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, TILE), blocks_n = gemm::ceil_div(p.n, TILE);
  return gemm::launch(sgemm, {.grid = static_cast<unsigned>(blocks_m) * blocks_n, .block = THREADS, .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n);
}

constexpr gemm::StageInfo info = {.idea = "tensorcore/03_split",
                                  .accuracy = gemm::Accuracy::tensor_fp32,
                                  .launch = launch,
                                  .emulation = {.fp16_products = 3, .fp16_range = true}};
const gemm::Registration registration{__FILE__, info};

}  // namespace

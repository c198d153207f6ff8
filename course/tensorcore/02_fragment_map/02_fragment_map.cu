// The contract of tensorcore/02_fragment_map: how the kernel in kernel.cuh is called, and what it may use. It is the
// teacher's; hand in kernel.cuh alone.
#include "common/kernel/ptx.cuh"
#include "common/stage.cuh"

namespace {

// Two halves in one register, `low` in its lower 16 bits.
__device__ std::uint32_t pack(__half low, __half high) {
  return __half_as_ushort(low) | static_cast<std::uint32_t>(__half_as_ushort(high)) << 16;
}

// D = A B + C on the Tensor Cores, by all 32 lanes of a warp together: A is 16 x 16, B is 16 x 8, C and D are 16 x 8.
__device__ void multiply(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], const float (&c)[4]) {
  gemm::ptx::mma_m16n8k16_f32_f16(d, a, b, c);
}

}  // namespace

#include "kernel.cuh"

namespace {

static_assert(TILE_M == 64 && TILE_N == 16 && THREADS == 128, "a block of 4 warps has 64 x 16 of C");

gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, TILE_M), blocks_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(hgemm, {.grid = static_cast<unsigned>(blocks_m) * blocks_n, .block = THREADS, .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n);
}

constexpr gemm::StageInfo info = {.idea = "tensorcore/02_fragment_map",
                                  .accuracy = gemm::Accuracy::tensor_fp32,
                                  .min_compute_capability = 80,
                                  .launch = launch};
const gemm::Registration registration{__FILE__, info};

}  // namespace

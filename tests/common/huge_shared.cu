// A stage with far more static shared memory than any GPU has: tests/cli/test_limits.py.
#include "common/stage.cuh"

namespace {

__global__ void sgemm(float* c) {
  __shared__ float tile[25 * 1024 * 1024];
  tile[threadIdx.x] = 1;
  __syncthreads();
  c[threadIdx.x] = tile[threadIdx.x ^ 1];
}

gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  return gemm::launch(sgemm, {.block = 32, .stream = stream}, p.c);
}

const gemm::Registration registration{"broken/02_huge_shared.cu",
                                      {.idea = "100 MB of shared memory", .launch = launch}};

}  // namespace

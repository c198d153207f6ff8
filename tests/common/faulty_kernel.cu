// A kernel that writes where there is no memory, for tests/common/test_fault.cpp.
#include "common/stage.cuh"

namespace {

__global__ void write_nowhere(float* nowhere) {
  *nowhere = 1.0f;
}

}  // namespace

gemm::Status launch_fault(const gemm::SgemmProblem&, cudaStream_t stream) {
  return gemm::launch(write_nowhere, {.stream = stream}, reinterpret_cast<float*>(16));
}

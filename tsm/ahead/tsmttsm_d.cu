// TSMTTSM of double, for any M and N up to 64.
#include "tsm/ahead/tsmttsm.cuh"

namespace gemm::ahead {

using T = double;

static const TsmttsmKernel<T> kernels[] = {
    {2, 2, tsmttsm<T, 2, 2>},
    {1, 1, tsmttsm<T, 1, 1>},
#ifndef GEMM_FEW_KERNELS
    {1, 2, tsmttsm<T, 1, 2>},
    {2, 1, tsmttsm<T, 2, 1>},
#endif
};

Status launch(const TsmttsmProblem<T>& problem, const TallMatrix<T>& a, const TallMatrix<T>& b, cudaStream_t stream) {
  return launch_ahead<T>(kernels, problem, a, b, stream);
}

}  // namespace gemm::ahead

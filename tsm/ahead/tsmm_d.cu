// TSMM of double, for any M and N up to 64.
#include "tsm/ahead/tsmm.cuh"

namespace gemm::ahead {

using T = double;

// By width: the first one that is wide enough is taken.
static const TsmmKernel<T> kernels[] = {
    {1, 2, tsmm<T, 1, 2>},
#ifndef GEMM_FEW_KERNELS
    {2, 2, tsmm<T, 2, 2>}, {3, 2, tsmm<T, 3, 2>}, {4, 1, tsmm<T, 4, 1>}, {6, 1, tsmm<T, 6, 1>},
#endif
    {8, 1, tsmm<T, 8, 1>},
};

Status launch(const TsmmProblem<T>& problem, const TallMatrix<T>& a, cudaStream_t stream) {
  return launch_ahead<T>(kernels, problem, a, stream);
}

}  // namespace gemm::ahead

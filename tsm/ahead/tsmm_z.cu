// TSMM of double complex, for any M and N up to 64.
#include "tsm/ahead/tsmm.cuh"

namespace gemm::ahead {

using T = double2;

// By width: the first one that is wide enough is taken.
static const TsmmKernel<T> kernels[] = {
#ifndef GEMM_FEW_KERNELS
    {1, 1, tsmm<T, 1, 1>}, {2, 1, tsmm<T, 2, 1>}, {3, 1, tsmm<T, 3, 1>}, {4, 1, tsmm<T, 4, 1>}, {6, 1, tsmm<T, 6, 1>},
#endif
    {8, 1, tsmm<T, 8, 1>},
};

Status launch(const TsmmProblem<T>& problem, const TallMatrix<T>& a, cudaStream_t stream) {
  return launch_ahead<T>(kernels, problem, a, stream);
}

}  // namespace gemm::ahead

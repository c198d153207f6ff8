// QR of double complex.
#include "tsm/qr/qr.cuh"

namespace gemm::qr {

using T = double2;

static const PassKernel<T> kernels[] = {
#ifndef GEMM_FEW_KERNELS
    {1, pass<T, 1, false>, pass<T, 1, true>}, {2, pass<T, 2, false>, pass<T, 2, true>},
    {4, pass<T, 4, false>, pass<T, 4, true>}, {6, pass<T, 6, false>, pass<T, 6, true>},
#endif
    {8, pass<T, 8, false>, pass<T, 8, true>},
};

Status factorise(const QrProblem<T>& problem, cudaStream_t stream) {
  return Factorisation<T>(kernels, problem, stream).run();
}

}  // namespace gemm::qr

// QR of double complex.
#include "tsm/qr/qr.cuh"

namespace gemm::qr {

using T = double2;

static const PassKernel<T> kernels[] = {
#ifndef GEMM_FEW_KERNELS
    pass_kernel<T, 1>(), pass_kernel<T, 2>(), pass_kernel<T, 4>(), pass_kernel<T, 6>(),
#endif
    pass_kernel<T, 8>(),
};

Status factorise(const QrProblem<T>& problem, cudaStream_t stream) {
  return Factorisation<T>(kernels, problem, stream).run();
}

}  // namespace gemm::qr

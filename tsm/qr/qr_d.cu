// QR of double.
#include "tsm/qr/qr.cuh"

namespace gemm::qr {

using T = double;

static const PassKernel<T> kernels[] = {
#ifndef GEMM_FEW_KERNELS
    pass_kernel<T, 1>(), pass_kernel<T, 2>(), pass_kernel<T, 4>(), pass_kernel<T, 6>(),
#endif
    pass_kernel<T, 8>(),
};

Status factorise(const QrProblem<T>& problem, cudaStream_t stream) {
  return Factorisation<T>(kernels, problem, stream).run();
}

std::size_t workspace_bytes(int n, std::size_t element_bytes) {
  const auto count = [](int number) { return static_cast<std::size_t>(number); };
  const std::size_t sums = count(fragments_of(n) * fragment_elements), sms = count(device_limits().multiprocessors);
  const std::size_t parts = sms * count(most_sms_blocks * pass_warps) * sums;
  return (count(most_factors * factor_elements(n)) + 2 * sums + std::max(parts, sms * count(n * n))) * element_bytes;
}

}  // namespace gemm::qr

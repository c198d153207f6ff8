// QR of double.
#include "tsm/qr/qr.cuh"

namespace gemm::qr {

using T = double;

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

std::size_t workspace_bytes(int n, std::size_t element_bytes) {
  const auto count = [](int number) { return static_cast<std::size_t>(number); };
  const std::size_t sums = count(fragments_of(n) * fragment_elements), sms = count(device_limits().multiprocessors);
  const std::size_t parts = sms * count(most_sms_blocks * slices_of(n)) * sums;
  return (count(most_factors * factor_elements(n)) + 2 * sums + std::max(parts, sms * count(n * n))) * element_bytes;
}

}  // namespace gemm::qr

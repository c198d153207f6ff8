#include "common/kernel/launch.cuh"
#include "tests/stages/scan_kernels.hpp"

namespace gemm::scan_test {
namespace {

__global__ void scan_rows(Flaw flaw, const __half* in, float* out, std::int64_t rows, int width) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows || (flaw == Flaw::one_row && row == rows - 1)) return;
  float carried = flaw == Flaw::next_row && row > 0 ? __half2float(in[row * width - 1]) : 0, sum = 0;
  for (int i = 0; i < width; ++i) {
    if (i % 16 == 0) {
      carried += sum;
      if (flaw == Flaw::half_carry) carried = __half2float(__float2half(carried));
      sum = 0;
    }
    const float before = carried + sum;
    sum += __half2float(in[row * width + i]);
    out[row * width + i] = flaw == Flaw::exclusive ? before : carried + sum;
  }
}

}  // namespace

Status scan(Flaw flaw, const __half* in, float* out, std::int64_t rows, int width) {
  constexpr unsigned threads = 64;
  return launch(scan_rows, {.grid = static_cast<unsigned>((rows + threads - 1) / threads), .block = threads}, flaw, in,
                out, rows, width);
}

}  // namespace gemm::scan_test

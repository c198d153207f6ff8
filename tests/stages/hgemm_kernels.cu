#include "common/kernel/launch.cuh"
#include "common/stage.cuh"
#include "tests/stages/hgemm_kernels.hpp"

namespace gemm {
namespace {

// Toward zero to FP32: the double's last 29 bits dropped.
__device__ float cut_off(double x) {
  const float nearest = static_cast<float>(x);
  const bool too_far = fabs(static_cast<double>(nearest)) > fabs(x);
  union {
    float number;
    std::uint32_t bits;
  } u = {nearest};
  u.bits -= too_far;
  return u.number;
}

__global__ void hgemm(HgemmProblem p, int k, HgemmFlaw flaw) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<std::int64_t>(p.m) * p.n) return;
  const std::int64_t row = i / p.n, col = i % p.n;
  if (flaw == HgemmFlaw::dropped_k) --k;
  float sum = 0;
  double step = 0;  // of cut sums: those of 16 products are exact
  for (int t = 0; t < k; ++t) {
    const float x = __half2float(p.a[row * p.lda + t]);
    const float y = __half2float(flaw == HgemmFlaw::swapped ? p.b[col % k * p.ldb + t % p.n] : p.b[t * p.ldb + col]);
    if (flaw == HgemmFlaw::cut_sums) {
      step += static_cast<double>(x) * y;
      if (t % 16 == 15 || t == k - 1) {
        sum = cut_off(sum + step);
        step = 0;
      }
    } else if (flaw == HgemmFlaw::half_sums)
      sum = __half2float(__float2half(sum + x * y));
    else
      sum += x * y;
  }
  float* const out = p.c + row * p.ldc + col;
  float result = p.alpha * sum;
  if (p.beta != 0) result += p.beta * *out;
  if (flaw == HgemmFlaw::half_result) result = __half2float(__float2half(result));
  *out = result;
  if (flaw == HgemmFlaw::past_the_end && col == p.n - 1) out[1] = 0;
  if (flaw == HgemmFlaw::changes_input && i == 0) const_cast<__half*>(p.a)[p.k] = __float2half(3.0f);
}

}  // namespace

Status launch_plain_hgemm(const HgemmProblem& p, HgemmFlaw flaw, cudaStream_t stream) {
  return launch(hgemm, {.grid = static_cast<unsigned>(ceil_div(p.m * p.n, 128)), .block = 128, .stream = stream}, p,
                p.depth(), flaw);
}

}  // namespace gemm

// A float as a sum of shorter numbers, and back.
//
//   half      h = half(v), d = half((v - h) 2^11): v = h + d 2^-11, to 2^-22 of v for 2^-14 <= |v| < 65520; below to
//             2^-36 in absolute terms; from 65520 on h is infinite and d NaN
//   tf32      h = tf32(v), d = tf32(v - h): to 2^-23 for |v| > 2^-102
//   bfloat16  three of them, each of what the ones before it left: to 2^-24 for |v| > 2^-109
//
// Source: Ootomo and Yokota, "Recovering Single Precision Accuracy from Tensor Cores While Surpassing the FP32
// Theoretical Peak Performance" (2022): that d must be scaled in FP16 is what they add to Markidis et al. (2018).
#pragma once

#include "policy.hpp"

namespace wmma_ext::tcec::detail {

__device__ __forceinline__ void to_part(float v, __half& part) {
  part = __float2half_rn(v);
}
__device__ __forceinline__ void to_part(float v, __nv_bfloat16& part) {
  part = __float2bfloat16_rn(v);
}
/// Of tf32: 11 bits of significand, rounded to nearest. (An operand of plain cores has one part, v.)
__device__ __forceinline__ float rounded_to_tf32(float v) {
#ifdef __CUDACC__
  std::uint32_t bits = 0;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
#else
  __trap();
#endif
  return __uint_as_float(bits);
#else
  return simt::round_to_tf32(v);
#endif
}

__device__ __forceinline__ float to_float(__half x) {
  return __half2float(x);
}
__device__ __forceinline__ float to_float(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
__device__ __forceinline__ float to_float(float x) {
  return x;
}

/// v as numbers<T, Policy>::parts numbers.
template <class T, class Policy>
__device__ __forceinline__ void split(float v, typename numbers<T, Policy>::type (&parts)[numbers<T, Policy>::parts]) {
  using numbers = detail::numbers<T, Policy>;
#pragma unroll
  for (int p = 0; p < numbers::parts; ++p) {
    if constexpr (Policy::on_plain_cores)
      parts[p] = v;
    else if constexpr (std::is_same_v<T, precision::tf32>)
      parts[p] = rounded_to_tf32(v);
    else
      to_part(v, parts[p]);
    v -= to_float(parts[p]);  // exact
    if (p == 0) v *= numbers::up;
  }
}

/// What the parts add up to.
template <class T, class Policy>
__device__ __forceinline__ float sum(const typename numbers<T, Policy>::type (&parts)[numbers<T, Policy>::parts]) {
  using numbers = detail::numbers<T, Policy>;
  float rest = 0.0f;
#pragma unroll
  for (int p = numbers::parts - 1; p > 0; --p) rest += to_float(parts[p]);
  return to_float(parts[0]) + rest * numbers::down;
}

}  // namespace wmma_ext::tcec::detail

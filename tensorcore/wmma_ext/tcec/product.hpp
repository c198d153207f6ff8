// D = A B + C of FP32 matrices, by products of their parts. All lanes of the warp must call these functions together.
#pragma once

#include "fragment.hpp"

namespace wmma_ext::tcec {
namespace detail {

/// D = A B + C by plain cores, 16 x 8 x 8: of what a lane multiplies, others hold most, and hand it over by shuffles.
/// Rounded to nearest after each of the eight steps, as FP32 cores do.
template <class A, class B, class C>
__device__ __forceinline__ void multiply_by_shuffles(C& d, const A& a, const B& b, const C& c) {
  constexpr unsigned all = 0xffffffffu;
  const int lane = lane_id(), group = lane & ~3, along = lane & 3;
  float sum[4] = {c.x[0], c.x[1], c.x[2], c.x[3]};  // (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int holds = k % 4, half = k / 4;
    const float above = __shfl_sync(all, a.x[2 * half], group + holds);
    const float below = __shfl_sync(all, a.x[2 * half + 1], group + holds);
    const float left = __shfl_sync(all, b.x[half], 8 * along + holds);
    const float right = __shfl_sync(all, b.x[half], 8 * along + 4 + holds);
    sum[0] = fmaf(above, left, sum[0]);
    sum[1] = fmaf(above, right, sum[1]);
    sum[2] = fmaf(below, left, sum[2]);
    sum[3] = fmaf(below, right, sum[3]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) d.x[i] = sum[i];
}

template <class Op, class A, class B, class C>
__device__ __forceinline__ void multiply(C& d, const A& a, const B& b, const C& c) {
  if constexpr (std::is_same_v<Op, op::mma>)
    mma::mma_sync(d, a, b, c);
  else if constexpr (std::is_same_v<Op, op::wmma>)
    nvcuda::wmma::mma_sync(d, a, b, c);
  else
    multiply_by_shuffles(d, a, b, c);
}

enum class Rounding { nearest, towards_zero };

template <Rounding rounding, int m, int n, int k, class T, class LayoutA, class LayoutB, class Policy>
__device__ __forceinline__ void multiply_add(fragment<accumulator, m, n, k, T, void, Policy>& d,
                                             const fragment<matrix_a, m, n, k, T, LayoutA, Policy>& a,
                                             const fragment<matrix_b, m, n, k, T, LayoutB, Policy>& b,
                                             const fragment<accumulator, m, n, k, T, void, Policy>& c) {
  using D = fragment<accumulator, m, n, k, T, void, Policy>;
  using Op = typename Policy::operation;
  constexpr int steps = k / Policy::k, parts = numbers<T, Policy>::parts;
  // Plain cores round to nearest anyway.
  constexpr bool promoted = rounding == Rounding::nearest && !Policy::on_plain_cores;
#pragma unroll
  for (int i = 0; i < D::down; ++i) {
#pragma unroll
    for (int j = 0; j < D::across; ++j) {
      typename D::part_type sum;
      if constexpr (promoted)
        fill(sum, 0.0f);
      else
        sum = c.x.main[i][j];
#pragma unroll
      for (int l = 0; l < steps; ++l) multiply<Op>(sum, a.x.part[0][i][l], b.x.part[0][l][j], sum);
#pragma unroll
      for (int e = 0; e < sum.num_elements; ++e)
        d.x.main[i][j].x[e] = promoted ? c.x.main[i][j].x[e] + sum.x[e] : sum.x[e];
      if constexpr (parts > 1) {
        sum = c.x.correction[i][j];
#pragma unroll
        for (int l = 0; l < steps; ++l) {
#pragma unroll
          for (int order = parts - 1; order > 0; --order) {  // the smallest products first
#pragma unroll
            for (int p = order; p >= 0; --p) multiply<Op>(sum, a.x.part[p][i][l], b.x.part[order - p][l][j], sum);
          }
        }
        d.x.correction[i][j] = sum;
      }
    }
  }
}

}  // namespace detail

/// D = A B + C to about FP32's precision: Tensor Cores add up the k products of an element, cutting off, and plain cores
/// add that to C, rounding to nearest. So what is cut off is small against a sum over many calls.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class Policy>
__device__ __forceinline__ void mma_rn_sync(fragment<accumulator, m, n, k, T, void, Policy>& d,
                                            const fragment<matrix_a, m, n, k, T, LayoutA, Policy>& a,
                                            const fragment<matrix_b, m, n, k, T, LayoutB, Policy>& b,
                                            const fragment<accumulator, m, n, k, T, void, Policy>& c) {
  detail::multiply_add<detail::Rounding::nearest>(d, a, b, c);
}

/// D = A B + C with all sums in Tensor Cores: each call cuts off, so errors of a sum over many calls add up.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class Policy>
__device__ __forceinline__ void mma_rz_sync(fragment<accumulator, m, n, k, T, void, Policy>& d,
                                            const fragment<matrix_a, m, n, k, T, LayoutA, Policy>& a,
                                            const fragment<matrix_b, m, n, k, T, LayoutB, Policy>& b,
                                            const fragment<accumulator, m, n, k, T, void, Policy>& c) {
  detail::multiply_add<detail::Rounding::towards_zero>(d, a, b, c);
}

/// The one of the two that fits: mma_rn_sync if the policy corrects errors, else mma_rz_sync, as nvcuda::wmma does it.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class Policy>
__device__ __forceinline__ void mma_sync(fragment<accumulator, m, n, k, T, void, Policy>& d,
                                         const fragment<matrix_a, m, n, k, T, LayoutA, Policy>& a,
                                         const fragment<matrix_b, m, n, k, T, LayoutB, Policy>& b,
                                         const fragment<accumulator, m, n, k, T, void, Policy>& c) {
  if constexpr (Policy::corrects)
    mma_rn_sync(d, a, b, c);
  else
    mma_rz_sync(d, a, b, c);
}

/// sum += part, by plain cores: to gather with mma_rz_sync for a while, and add that up rounded.
template <int m, int n, int k, class T, class Policy>
__device__ __forceinline__ void promote(fragment<accumulator, m, n, k, T, void, Policy>& sum,
                                        const fragment<accumulator, m, n, k, T, void, Policy>& part) {
  using C = fragment<accumulator, m, n, k, T, void, Policy>;
#pragma unroll
  for (int i = 0; i < C::down; ++i) {
#pragma unroll
    for (int j = 0; j < C::across; ++j) {
#pragma unroll
      for (int e = 0; e < C::part_type::num_elements; ++e) {
        sum.x.main[i][j].x[e] += part.x.main[i][j].x[e];
        if constexpr (Policy::corrects) sum.x.correction[i][j].x[e] += part.x.correction[i][j].x[e];
      }
    }
  }
}

}  // namespace wmma_ext::tcec

// Fragments as numbers: `using namespace wmma_ext::operators;`, because C++ does not look here for nvcuda::wmma's
// types. Elementwise, in the type of x[] (so tf32 fragments calculate in float). Each distinct element is calculated
// once. Not together: each lane does its own. Source: Ootomo and Yokota (2023), the library it describes.
#pragma once

#include "arithmetic.hpp"

namespace wmma_ext {
namespace detail {

/// result[e] = f(e) for each element held.
template <any_fragment Fragment, class Function>
__device__ __forceinline__ Fragment each(Function&& f) {
  Fragment result;
#pragma unroll
  for (int e = 0; e < fragment_traits<Fragment>::held; ++e) set(result, e, f(e));
  return result;
}

}  // namespace detail

namespace operators {

template <any_fragment F>
__device__ __forceinline__ F operator+(const F& a, const F& b) {
  return detail::each<F>([&](int e) { return detail::plus(a.x[e], b.x[e]); });
}
template <any_fragment F>
__device__ __forceinline__ F operator-(const F& a, const F& b) {
  return detail::each<F>([&](int e) { return detail::minus(a.x[e], b.x[e]); });
}
/// Elementwise: no matrix product.
template <any_fragment F>
__device__ __forceinline__ F operator*(const F& a, const F& b) {
  return detail::each<F>([&](int e) { return detail::times(a.x[e], b.x[e]); });
}
template <any_fragment F>
__device__ __forceinline__ F operator/(const F& a, const F& b) {
  return detail::each<F>([&](int e) { return detail::divided(a.x[e], b.x[e]); });
}

template <any_fragment F>
__device__ __forceinline__ F operator+(const F& a, value_t<F> b) {
  return detail::each<F>([&](int e) { return detail::plus(a.x[e], b); });
}
template <any_fragment F>
__device__ __forceinline__ F operator-(const F& a, value_t<F> b) {
  return detail::each<F>([&](int e) { return detail::minus(a.x[e], b); });
}
template <any_fragment F>
__device__ __forceinline__ F operator*(const F& a, value_t<F> b) {
  return detail::each<F>([&](int e) { return detail::times(a.x[e], b); });
}
template <any_fragment F>
__device__ __forceinline__ F operator*(value_t<F> a, const F& b) {
  return b * a;
}
template <any_fragment F>
__device__ __forceinline__ F operator/(const F& a, value_t<F> b) {
  return detail::each<F>([&](int e) { return detail::divided(a.x[e], b); });
}

}  // namespace operators

/// a b + c, elementwise, rounded once.
template <any_fragment F>
__device__ __forceinline__ F fma(const F& a, const F& b, const F& c) {
  return detail::each<F>([&](int e) { return detail::multiply_add(a.x[e], b.x[e], c.x[e]); });
}
template <any_fragment F>
__device__ __forceinline__ F fma(value_t<F> a, const F& b, const F& c) {
  return detail::each<F>([&](int e) { return detail::multiply_add(a, b.x[e], c.x[e]); });
}

}  // namespace wmma_ext

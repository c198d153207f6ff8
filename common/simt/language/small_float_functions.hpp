// Of __half, __nv_bfloat16 and their pairs: mathematical functions, saturating forms, conversions, shuffles.
#pragma once

#include <cmath>

#include "common/simt/language/small_float_pairs.hpp"
#include "common/simt/language/warp.hpp"

// A function of a number, computed in double and rounded once, and of a pair. CUDA allows its own an error of a bit.
#define SIMT_SMALL_FLOAT_FUNCTION(name, of_x)                \
  template <simt::SmallFloat T>                              \
  __forceinline__ T h##name(T a) {                           \
    const double x = simt::wide(a);                          \
    return simt::narrow<T>(of_x);                            \
  }                                                          \
  template <simt::SmallFloatPair P>                          \
  __forceinline__ P h2##name(P a) {                          \
    return simt::each([](auto x) { return h##name(x); }, a); \
  }
SIMT_SMALL_FLOAT_FUNCTION(sqrt, std::sqrt(x))
SIMT_SMALL_FLOAT_FUNCTION(rsqrt, 1 / std::sqrt(x))
SIMT_SMALL_FLOAT_FUNCTION(rcp, 1 / x)
SIMT_SMALL_FLOAT_FUNCTION(exp, std::exp(x))
SIMT_SMALL_FLOAT_FUNCTION(exp2, std::exp2(x))
SIMT_SMALL_FLOAT_FUNCTION(exp10, std::pow(10.0, x))
SIMT_SMALL_FLOAT_FUNCTION(log, std::log(x))
SIMT_SMALL_FLOAT_FUNCTION(log2, std::log2(x))
SIMT_SMALL_FLOAT_FUNCTION(log10, std::log10(x))
SIMT_SMALL_FLOAT_FUNCTION(sin, std::sin(x))
SIMT_SMALL_FLOAT_FUNCTION(cos, std::cos(x))
SIMT_SMALL_FLOAT_FUNCTION(tanh, std::tanh(x))
SIMT_SMALL_FLOAT_FUNCTION(tanh_approx, std::tanh(x))
SIMT_SMALL_FLOAT_FUNCTION(floor, std::floor(x))
SIMT_SMALL_FLOAT_FUNCTION(ceil, std::ceil(x))
SIMT_SMALL_FLOAT_FUNCTION(trunc, std::trunc(x))
SIMT_SMALL_FLOAT_FUNCTION(rint, std::nearbyint(x))
#undef SIMT_SMALL_FLOAT_FUNCTION

namespace simt {
/// Limited to [0, 1]; NaN becomes 0.
template <SmallFloat T>
__forceinline__ T saturated(T x) {
  return __hmin(__hmax(x, narrow<T>(0)), narrow<T>(1));
}
/// Not below 0; NaN stays.
template <SmallFloat T>
__forceinline__ T rectified(T x) {
  return __hmax_nan(x, narrow<T>(0));
}
}  // namespace simt

#define SIMT_SMALL_FLOAT_FORMS(name, form, change)                                         \
  template <simt::SmallFloat T, class... Others>                                           \
  __forceinline__ T __h##name##_##form(T a, Others... others) {                            \
    return simt::change(__h##name(a, others...));                                          \
  }                                                                                        \
  template <simt::SmallFloatPair P, class... Others>                                       \
  __forceinline__ P __h##name##2_##form(P a, Others... others) {                           \
    return simt::each([](auto x) { return simt::change(x); }, __h##name##2(a, others...)); \
  }
SIMT_SMALL_FLOAT_FORMS(add, sat, saturated)
SIMT_SMALL_FLOAT_FORMS(sub, sat, saturated)
SIMT_SMALL_FLOAT_FORMS(mul, sat, saturated)
SIMT_SMALL_FLOAT_FORMS(fma, sat, saturated)
SIMT_SMALL_FLOAT_FORMS(fma, relu, rectified)
#undef SIMT_SMALL_FLOAT_FORMS

template <simt::SmallFloatPair P>
__forceinline__ P __hmax2_nan(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hmax_nan(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hmin2_nan(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hmin_nan(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hisnan2(P a) {
  return simt::each([](auto x) { return simt::truth<P>(__hisnan(x)); }, a);
}
/// a * b + c of complex numbers.
template <simt::SmallFloatPair P>
__forceinline__ P __hcmadd(P a, simt::Same<P> b, simt::Same<P> c) {
  P result;
  result.x = __hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x));
  result.y = __hfma(a.y, b.x, __hfma(a.x, b.y, c.y));
  return result;
}

// Integers, rounded in each of the four directions: nearest (even), zero, down, up.
#define SIMT_SMALL_FLOAT_INTEGER(T, name, integer, Integer, suffix, direction) \
  __forceinline__ Integer __##name##2##integer##_##suffix(T a) {               \
    return simt::to_integer<Integer>(a, simt::Round::direction);               \
  }                                                                            \
  __forceinline__ T __##integer##2##name##_##suffix(Integer a) {               \
    return simt::narrow<T>(simt::to_double(a), simt::Round::direction);        \
  }
#define SIMT_SMALL_FLOAT_INTEGERS(T, name, integer, Integer)       \
  SIMT_SMALL_FLOAT_INTEGER(T, name, integer, Integer, rn, nearest) \
  SIMT_SMALL_FLOAT_INTEGER(T, name, integer, Integer, rz, zero)    \
  SIMT_SMALL_FLOAT_INTEGER(T, name, integer, Integer, rd, down)    \
  SIMT_SMALL_FLOAT_INTEGER(T, name, integer, Integer, ru, up)

template <class T>
concept SimtSmallFloats = simt::SmallFloat<T> || simt::SmallFloatPair<T>;
template <SimtSmallFloats T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  return simt::shuffle(mask, value, source, width);
}
template <SimtSmallFloats T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  return simt::shuffle_up(mask, value, delta, width);
}
template <SimtSmallFloats T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  return simt::shuffle_down(mask, value, delta, width);
}
template <SimtSmallFloats T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  return simt::shuffle_xor(mask, value, lane_mask, width);
}

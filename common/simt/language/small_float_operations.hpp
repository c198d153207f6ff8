// What CUDA's __half and __nv_bfloat16 have in common: arithmetic and comparison. Where CUDA has a function for each
// type, here is one template for both; all operands but the first may be anything that converts.
#pragma once

#include <type_traits>

#include "common/simt/language/small_float.hpp"

namespace simt {

template <class T>
concept SmallFloat = requires {
  typename T::simt_format;
};
template <class T>
using Same = std::type_identity_t<T>;

/// The number with these bits.
template <SmallFloat T>
__forceinline__ T from_bits(std::uint16_t bits) {
  T result;
  result.__x = bits;
  return result;
}
/// x rounded to T.
template <SmallFloat T>
__forceinline__ T narrow(double x, Round round = Round::nearest) {
  return from_bits<T>(round_to<typename T::simt_format>(x, round));
}
template <SmallFloat T>
__forceinline__ float wide(T x) {
  return widen<typename T::simt_format>(x.__x);
}
template <SmallFloat T>
__forceinline__ bool is_nan(T x) {
  return (x.__x & 0x7fff) > T::simt_format::infinity;
}
/// The larger one, where -0 < +0.
template <SmallFloat T>
__forceinline__ T larger(T a, T b) {
  const float x = wide(a), y = wide(b);
  return x > y || (x == y && !(a.__x & 0x8000)) ? a : b;
}
template <SmallFloat T>
__forceinline__ T negated(T x) {
  return is_nan(x) ? from_bits<T>(0x7fff) : from_bits<T>(x.__x ^ 0x8000);
}

}  // namespace simt

// Arithmetic, rounded to nearest even. Sums, products and quotients of such short numbers, taken in double, are never
// so close to a tie that the second rounding could err.
template <simt::SmallFloat T>
__forceinline__ T __hadd(T a, simt::Same<T> b) {
  return simt::narrow<T>(static_cast<double>(simt::wide(a)) + simt::wide(b));
}
template <simt::SmallFloat T>
__forceinline__ T __hsub(T a, simt::Same<T> b) {
  return simt::narrow<T>(static_cast<double>(simt::wide(a)) - simt::wide(b));
}
template <simt::SmallFloat T>
__forceinline__ T __hmul(T a, simt::Same<T> b) {
  return simt::narrow<T>(simt::opaque(static_cast<double>(simt::wide(a)) * simt::wide(b)));
}
template <simt::SmallFloat T>
__forceinline__ T __hdiv(T a, simt::Same<T> b) {
  return simt::narrow<T>(static_cast<double>(simt::wide(a)) / simt::wide(b));
}
/// a * b + c, rounded once.
template <simt::SmallFloat T>
__forceinline__ T __hfma(T a, simt::Same<T> b, simt::Same<T> c) {
  return simt::from_bits<T>(
      simt::fused_multiply_add<typename T::simt_format>(simt::wide(a), simt::wide(b), simt::wide(c)));
}
// The forms that nvcc never contracts. Nor does the executor contract the others.
template <simt::SmallFloat T>
__forceinline__ T __hadd_rn(T a, simt::Same<T> b) {
  return __hadd(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T __hsub_rn(T a, simt::Same<T> b) {
  return __hsub(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T __hmul_rn(T a, simt::Same<T> b) {
  return __hmul(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T __hneg(T a) {
  return simt::negated(a);
}
template <simt::SmallFloat T>
__forceinline__ T __habs(T a) {
  return simt::is_nan(a) ? simt::from_bits<T>(0x7fff) : simt::from_bits<T>(a.__x & 0x7fff);
}
/// The larger one; of a NaN and a number, the number.
template <simt::SmallFloat T>
__forceinline__ T __hmax(T a, simt::Same<T> b) {
  if (simt::is_nan(a)) return simt::is_nan(b) ? simt::from_bits<T>(0x7fff) : b;
  return simt::is_nan(b) ? a : simt::larger(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T __hmin(T a, simt::Same<T> b) {
  if (simt::is_nan(a)) return simt::is_nan(b) ? simt::from_bits<T>(0x7fff) : b;
  if (simt::is_nan(b)) return a;
  return simt::negated(simt::larger(simt::negated(a), simt::negated(b)));
}
/// The larger one; NaN if either is.
template <simt::SmallFloat T>
__forceinline__ T __hmax_nan(T a, simt::Same<T> b) {
  return simt::is_nan(a) || simt::is_nan(b) ? simt::from_bits<T>(0x7fff) : __hmax(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T __hmin_nan(T a, simt::Same<T> b) {
  return simt::is_nan(a) || simt::is_nan(b) ? simt::from_bits<T>(0x7fff) : __hmin(a, b);
}

template <simt::SmallFloat T>
__forceinline__ bool __hisnan(T a) {
  return simt::is_nan(a);
}
/// 1 for +infinity, -1 for -infinity, else 0.
template <simt::SmallFloat T>
__forceinline__ int __hisinf(T a) {
  return (a.__x & 0x7fff) != T::simt_format::infinity ? 0 : a.__x & 0x8000 ? -1 : 1;
}

// Comparisons are false if an operand is NaN; those with a `u` (unordered) are true then. Of the operators, != is the
// unordered one, as it is for float.
template <simt::SmallFloat T>
__forceinline__ bool __heq(T a, simt::Same<T> b) {
  return simt::wide(a) == simt::wide(b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hlt(T a, simt::Same<T> b) {
  return simt::wide(a) < simt::wide(b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hle(T a, simt::Same<T> b) {
  return simt::wide(a) <= simt::wide(b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hgt(T a, simt::Same<T> b) {
  return simt::wide(a) > simt::wide(b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hge(T a, simt::Same<T> b) {
  return simt::wide(a) >= simt::wide(b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hne(T a, simt::Same<T> b) {
  return simt::wide(a) < simt::wide(b) || simt::wide(a) > simt::wide(b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hequ(T a, simt::Same<T> b) {
  return !__hne(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hneu(T a, simt::Same<T> b) {
  return !__heq(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hltu(T a, simt::Same<T> b) {
  return !__hge(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hleu(T a, simt::Same<T> b) {
  return !__hgt(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hgtu(T a, simt::Same<T> b) {
  return !__hle(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool __hgeu(T a, simt::Same<T> b) {
  return !__hlt(a, b);
}

template <simt::SmallFloat T>
__forceinline__ T operator+(T a, T b) {
  return __hadd(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T& operator+=(T& a, simt::Same<T> b) {
  return a = __hadd(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T operator-(T a, T b) {
  return __hsub(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T& operator-=(T& a, simt::Same<T> b) {
  return a = __hsub(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T operator*(T a, T b) {
  return __hmul(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T& operator*=(T& a, simt::Same<T> b) {
  return a = __hmul(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T operator/(T a, T b) {
  return __hdiv(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T& operator/=(T& a, simt::Same<T> b) {
  return a = __hdiv(a, b);
}
template <simt::SmallFloat T>
__forceinline__ T operator-(T a) {
  return __hneg(a);
}
template <simt::SmallFloat T>
__forceinline__ T operator+(T a) {
  return a;
}
template <simt::SmallFloat T>
__forceinline__ bool operator==(T a, T b) {
  return __heq(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool operator!=(T a, T b) {
  return __hneu(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool operator<(T a, T b) {
  return __hlt(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool operator<=(T a, T b) {
  return __hle(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool operator>(T a, T b) {
  return __hgt(a, b);
}
template <simt::SmallFloat T>
__forceinline__ bool operator>=(T a, T b) {
  return __hge(a, b);
}

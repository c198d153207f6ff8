// Stands in for CUDA's header of the same name in a `cpu` build: __half and __half2, correctly rounded, in
// software. What can be done with them: common/simt/language/small_float_{operations,pairs,functions}.hpp.
#pragma once

#include <concepts>

#include "common/simt/language/atomics.hpp"
#include "common/simt/language/small_float.hpp"
#include "common/simt/language/small_float_functions.hpp"
#include "common/simt/language/small_float_operations.hpp"
#include "common/simt/language/small_float_pairs.hpp"
#include "common/simt/language/types.hpp"

/// The bits alone.
struct __half_raw {
  unsigned short x;
};

/// IEEE 754 half precision: 11 significant bits, up to 65504, down to 2^-24.
struct __half {
  using simt_format = simt::Binary16;
  unsigned short __x;

  __half() = default;  // trivial, so that arrays may be __shared__
  __forceinline__ __half(float value) : __x(simt::round_to<simt_format>(value)) {}
  __forceinline__ __half(double value) : __x(simt::round_to<simt_format>(value)) {}
  template <std::integral Integer>
  __forceinline__ __half(Integer value) : __x(simt::round_to<simt_format>(simt::to_double(value))) {}
  __forceinline__ __half(__half_raw raw) : __x(raw.x) {}

  __forceinline__ operator float() const { return simt::widen<simt_format>(__x); }
  __forceinline__ operator __half_raw() const { return {__x}; }
  template <std::integral Integer>
  __forceinline__ operator Integer() const {
    if constexpr (std::same_as<Integer, bool>)
      return (__x & 0x7fff) != 0;
    else
      return simt::to_integer<Integer>(*this, simt::Round::zero);
  }
};

/// Two of them in 32 bits, x in the lower half.
struct alignas(4) __half2 {
  using simt_element = __half;
  __half x, y;

  __half2() = default;
  __forceinline__ __half2(__half first, __half second) : x(first), y(second) {}
};

using half = __half;
using half2 = __half2;

// To and from float and double. Without a suffix: to nearest even.
__forceinline__ __half __float2half(float a) {
  return simt::narrow<__half>(a, simt::Round::nearest);
}
__forceinline__ __half __float2half_rn(float a) {
  return simt::narrow<__half>(a, simt::Round::nearest);
}
__forceinline__ __half __float2half_rz(float a) {
  return simt::narrow<__half>(a, simt::Round::zero);
}
__forceinline__ __half __float2half_rd(float a) {
  return simt::narrow<__half>(a, simt::Round::down);
}
__forceinline__ __half __float2half_ru(float a) {
  return simt::narrow<__half>(a, simt::Round::up);
}
__forceinline__ __half __double2half(double a) {
  return simt::narrow<__half>(a);
}
__forceinline__ float __half2float(__half a) {
  return simt::wide(a);
}

// The bits.
__forceinline__ unsigned short __half_as_ushort(__half a) {
  return a.__x;
}
__forceinline__ short __half_as_short(__half a) {
  return static_cast<short>(a.__x);
}
__forceinline__ __half __ushort_as_half(unsigned short bits) {
  return simt::from_bits<__half>(bits);
}
__forceinline__ __half __short_as_half(short bits) {
  return simt::from_bits<__half>(static_cast<unsigned short>(bits));
}

// Integers: __half2int_rn(), __int2half_rn(), ...
SIMT_SMALL_FLOAT_INTEGERS(__half, half, int, int)
SIMT_SMALL_FLOAT_INTEGERS(__half, half, uint, unsigned)
SIMT_SMALL_FLOAT_INTEGERS(__half, half, short, short)
SIMT_SMALL_FLOAT_INTEGERS(__half, half, ushort, unsigned short)
SIMT_SMALL_FLOAT_INTEGERS(__half, half, ll, long long)
SIMT_SMALL_FLOAT_INTEGERS(__half, half, ull, unsigned long long)
__forceinline__ signed char __half2char_rz(__half a) {
  return simt::to_integer<signed char>(a, simt::Round::zero);
}
__forceinline__ unsigned char __half2uchar_rz(__half a) {
  return simt::to_integer<unsigned char>(a, simt::Round::zero);
}

// Pairs.
__forceinline__ __half2 __halves2half2(__half a, __half b) {
  return {a, b};
}
__forceinline__ __half2 make_half2(__half a, __half b) {
  return {a, b};
}
__forceinline__ __half2 __half2half2(__half a) {
  return {a, a};
}
__forceinline__ __half __low2half(__half2 a) {
  return a.x;
}
__forceinline__ __half __high2half(__half2 a) {
  return a.y;
}
__forceinline__ float __low2float(__half2 a) {
  return simt::wide(a.x);
}
__forceinline__ float __high2float(__half2 a) {
  return simt::wide(a.y);
}
__forceinline__ __half2 __low2half2(__half2 a) {
  return {a.x, a.x};
}
__forceinline__ __half2 __high2half2(__half2 a) {
  return {a.y, a.y};
}
__forceinline__ __half2 __lows2half2(__half2 a, __half2 b) {
  return {a.x, b.x};
}
__forceinline__ __half2 __highs2half2(__half2 a, __half2 b) {
  return {a.y, b.y};
}
__forceinline__ __half2 __lowhigh2highlow(__half2 a) {
  return {a.y, a.x};
}
__forceinline__ float2 __half22float2(__half2 a) {
  return {simt::wide(a.x), simt::wide(a.y)};
}
__forceinline__ __half2 __float22half2_rn(float2 a) {
  return {__float2half(a.x), __float2half(a.y)};
}
__forceinline__ __half2 __floats2half2_rn(float a, float b) {
  return {__float2half(a), __float2half(b)};
}
__forceinline__ __half2 __float2half2_rn(float a) {
  return __half2half2(__float2half(a));
}

// Of each element by itself.
SIMT_IN_SCOPES(SIMT_ATOMIC_PIECES, atomicAdd, __half, __half)
SIMT_IN_SCOPES(SIMT_ATOMIC_PIECES, atomicAdd, __half2, __half)

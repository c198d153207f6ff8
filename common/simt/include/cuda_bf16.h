// Stands in for CUDA's header of the same name in a `cpu` build: __nv_bfloat16 and __nv_bfloat162, correctly rounded,
// in software. What can be done with them: common/simt/language/small_float_{operations,pairs,functions}.hpp.
#pragma once

#include <concepts>

#include "common/simt/language/atomics.hpp"
#include "common/simt/language/small_float.hpp"
#include "common/simt/language/small_float_functions.hpp"
#include "common/simt/language/small_float_operations.hpp"
#include "common/simt/language/small_float_pairs.hpp"
#include "common/simt/language/types.hpp"

/// The bits alone.
struct __nv_bfloat16_raw {
  unsigned short x;
};

/// 8 significant bits, and the range of float.
struct __nv_bfloat16 {
  using simt_format = simt::Bfloat16;
  unsigned short __x;

  __nv_bfloat16() = default;  // trivial, so that arrays may be __shared__
  __forceinline__ __nv_bfloat16(float value) : __x(simt::round_to<simt_format>(value)) {}
  __forceinline__ __nv_bfloat16(double value) : __x(simt::round_to<simt_format>(value)) {}
  template <std::integral Integer>
  __forceinline__ __nv_bfloat16(Integer value) : __x(simt::round_to<simt_format>(simt::to_double(value))) {}
  __forceinline__ __nv_bfloat16(__nv_bfloat16_raw raw) : __x(raw.x) {}

  __forceinline__ operator float() const { return simt::widen<simt_format>(__x); }
  __forceinline__ operator __nv_bfloat16_raw() const { return {__x}; }
  template <std::integral Integer>
  __forceinline__ operator Integer() const {
    if constexpr (std::same_as<Integer, bool>)
      return (__x & 0x7fff) != 0;
    else
      return simt::to_integer<Integer>(*this, simt::Round::zero);
  }
};

/// Two of them in 32 bits, x in the lower half.
struct alignas(4) __nv_bfloat162 {
  using simt_element = __nv_bfloat16;
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  __forceinline__ __nv_bfloat162(__nv_bfloat16 first, __nv_bfloat16 second) : x(first), y(second) {}
};

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// To and from float and double. Without a suffix: to nearest even.
__forceinline__ __nv_bfloat16 __float2bfloat16(float a) {
  return simt::narrow<__nv_bfloat16>(a, simt::Round::nearest);
}
__forceinline__ __nv_bfloat16 __float2bfloat16_rn(float a) {
  return simt::narrow<__nv_bfloat16>(a, simt::Round::nearest);
}
__forceinline__ __nv_bfloat16 __float2bfloat16_rz(float a) {
  return simt::narrow<__nv_bfloat16>(a, simt::Round::zero);
}
__forceinline__ __nv_bfloat16 __float2bfloat16_rd(float a) {
  return simt::narrow<__nv_bfloat16>(a, simt::Round::down);
}
__forceinline__ __nv_bfloat16 __float2bfloat16_ru(float a) {
  return simt::narrow<__nv_bfloat16>(a, simt::Round::up);
}
__forceinline__ __nv_bfloat16 __double2bfloat16(double a) {
  return simt::narrow<__nv_bfloat16>(a);
}
__forceinline__ float __bfloat162float(__nv_bfloat16 a) {
  return simt::wide(a);
}

// The bits.
__forceinline__ unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) {
  return a.__x;
}
__forceinline__ short __bfloat16_as_short(__nv_bfloat16 a) {
  return static_cast<short>(a.__x);
}
__forceinline__ __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return simt::from_bits<__nv_bfloat16>(bits);
}
__forceinline__ __nv_bfloat16 __short_as_bfloat16(short bits) {
  return simt::from_bits<__nv_bfloat16>(static_cast<unsigned short>(bits));
}

// Integers: __bfloat162int_rn(), __int2bfloat16_rn(), ...
SIMT_SMALL_FLOAT_INTEGERS(__nv_bfloat16, bfloat16, int, int)
SIMT_SMALL_FLOAT_INTEGERS(__nv_bfloat16, bfloat16, uint, unsigned)
SIMT_SMALL_FLOAT_INTEGERS(__nv_bfloat16, bfloat16, short, short)
SIMT_SMALL_FLOAT_INTEGERS(__nv_bfloat16, bfloat16, ushort, unsigned short)
SIMT_SMALL_FLOAT_INTEGERS(__nv_bfloat16, bfloat16, ll, long long)
SIMT_SMALL_FLOAT_INTEGERS(__nv_bfloat16, bfloat16, ull, unsigned long long)
__forceinline__ signed char __bfloat162char_rz(__nv_bfloat16 a) {
  return simt::to_integer<signed char>(a, simt::Round::zero);
}
__forceinline__ unsigned char __bfloat162uchar_rz(__nv_bfloat16 a) {
  return simt::to_integer<unsigned char>(a, simt::Round::zero);
}

// Pairs.
__forceinline__ __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {a, b};
}
__forceinline__ __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {a, b};
}
__forceinline__ __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) {
  return {a, a};
}
__forceinline__ __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) {
  return a.x;
}
__forceinline__ __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) {
  return a.y;
}
__forceinline__ float __low2float(__nv_bfloat162 a) {
  return simt::wide(a.x);
}
__forceinline__ float __high2float(__nv_bfloat162 a) {
  return simt::wide(a.y);
}
__forceinline__ __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) {
  return {a.x, a.x};
}
__forceinline__ __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) {
  return {a.y, a.y};
}
__forceinline__ __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.x, b.x};
}
__forceinline__ __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.y, b.y};
}
__forceinline__ __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) {
  return {a.y, a.x};
}
__forceinline__ float2 __bfloat1622float2(__nv_bfloat162 a) {
  return {simt::wide(a.x), simt::wide(a.y)};
}
__forceinline__ __nv_bfloat162 __float22bfloat162_rn(float2 a) {
  return {__float2bfloat16(a.x), __float2bfloat16(a.y)};
}
__forceinline__ __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return {__float2bfloat16(a), __float2bfloat16(b)};
}
__forceinline__ __nv_bfloat162 __float2bfloat162_rn(float a) {
  return __bfloat162bfloat162(__float2bfloat16(a));
}

// Of each element by itself.
SIMT_IN_SCOPES(SIMT_ATOMIC_PIECES, atomicAdd, __nv_bfloat16, __nv_bfloat16)
SIMT_IN_SCOPES(SIMT_ATOMIC_PIECES, atomicAdd, __nv_bfloat162, __nv_bfloat16)

// The 16-bit floating-point formats, in software: what is computed is computed exactly, or nearly, in double, and
// rounded once.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include "common/simt/language/language.hpp"

// Everything here and in what builds on it is __forceinline__: kernel code includes it, and a copy that is inlined into
// the kernel can't be mistaken for one from a unit that was compiled without the executor's hooks.
namespace simt {

/// IEEE 754 binary16: 1 sign bit, 5 of the exponent, 10 of the fraction.
struct Binary16 {
  static constexpr int fraction_bits = 10;
  static constexpr int min_exponent = -14;  // of a normal number
  static constexpr std::uint16_t infinity = 0x7c00;
};

/// bfloat16, the upper half of a binary32: 1 sign bit, 8 of the exponent, 7 of the fraction.
struct Bfloat16 {
  static constexpr int fraction_bits = 7;
  static constexpr int min_exponent = -126;
  static constexpr std::uint16_t infinity = 0x7f80;
};

enum class Round { nearest, zero, down, up };  ///< nearest: ties to even

/// Keeps x in a register of its own, so that a multiplication and an addition aren't contracted into an FMA, which
/// would be counted as one of the kernel's.
__forceinline__ double opaque(double x) {
#ifdef __x86_64__
  asm("" : "+x"(x));
#else
  asm("" : "+w"(x));
#endif
  return x;
}

/// The bits of x in the format. Every NaN becomes the NaN of the hardware, 0x7fff; too large a number becomes infinity
/// or the largest finite one, whichever the direction asks for.
template <class Format>
__forceinline__ std::uint16_t round_to(double x, Round round = Round::nearest) {
  constexpr int double_fraction_bits = 52;
  const auto all = std::bit_cast<std::uint64_t>(x);
  const auto magnitude = all & ~(1ull << 63);
  const bool negative = all != magnitude;
  const std::uint16_t sign = negative ? 0x8000 : 0;
  if (magnitude > 0x7ffull << double_fraction_bits) return 0x7fff;
  if (magnitude == 0x7ffull << double_fraction_bits) return sign | Format::infinity;

  const int exponent = static_cast<int>(magnitude >> double_fraction_bits) - 1023;
  auto significand = magnitude & ((1ull << double_fraction_bits) - 1);
  if (exponent > -1023) significand |= 1ull << double_fraction_bits;
  // Below the normal numbers the last bit stands still and more bits are dropped. From 54 on, all that is left is less
  // than half of a last bit, so a limit changes nothing.
  const bool normal = exponent >= Format::min_exponent;
  int drop = double_fraction_bits - Format::fraction_bits;
  if (!normal) drop += Format::min_exponent - exponent;
  if (drop > 60) drop = 60;

  auto kept = significand >> drop;
  const auto rest = significand & ((1ull << drop) - 1), half = 1ull << (drop - 1);
  if (round == Round::nearest) {
    kept += rest > half || (rest == half && (kept & 1));
  } else if (round != Round::zero) {
    kept += rest != 0 && negative == (round == Round::down);
  }
  // A normal number's leading 1 adds itself to the exponent, and so does a carry out of the fraction.
  if (normal) kept += static_cast<std::uint64_t>(exponent - Format::min_exponent) << Format::fraction_bits;
  if (kept >= Format::infinity) {
    const bool away = round == Round::nearest || (round != Round::zero && negative == (round == Round::down));
    kept = away ? Format::infinity : Format::infinity - 1;
  }
  return sign | static_cast<std::uint16_t>(kept);
}

/// The number that the bits stand for. Exact.
template <class Format>
__forceinline__ float widen(std::uint16_t bits) {
  if constexpr (std::same_as<Format, Bfloat16>) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  const std::uint32_t magnitude = bits & 0x7fff;
  std::uint32_t wide = magnitude << 13;
  if (magnitude >= Binary16::infinity) {
    wide |= 0x7f800000;
  } else if (magnitude >= 0x400) {
    wide += (127 - 15) << 23;
  } else {
    wide = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  }
  return std::bit_cast<float>(wide | static_cast<std::uint32_t>(bits & 0x8000) << 16);
}

/// a * b + c, rounded once. The product of two such numbers is exact in double; the sum may not be, so it is rounded to
/// odd there: that keeps it on the right side of every tie of the narrower format.
template <class Format>
__forceinline__ std::uint16_t fused_multiply_add(float a, float b, float c) {
  const double product = opaque(static_cast<double>(a) * b), addend = c;
  double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);  // what the sum lost, exactly
  if (error < 0 || error > 0) {                                     // neither if the sum is infinite or NaN
    auto bits = std::bit_cast<std::uint64_t>(sum);
    if (!(bits & 1)) bits += (error > 0) == (sum > 0) ? 1 : -1;
    sum = std::bit_cast<double>(bits);
  }
  return round_to<Format>(sum);
}

/// x in tf32, the 19 bits that Tensor Cores read of a float: to nearest, ties away from zero (cvt.rna.tf32.f32).
__forceinline__ float round_to_tf32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (x != x) return std::bit_cast<float>(0x7fffffffu);
  return std::bit_cast<float>((bits + 0x1000) & ~0x1fffu);
}

/// An integer as a double that rounds to every narrower format as the integer does: what does not fit into its 53 bits
/// is gathered in the last of them.
template <std::integral Integer>
__forceinline__ double to_double(Integer value) {
  const bool negative = value < 0;
  auto magnitude = static_cast<std::uint64_t>(value);
  if (negative) magnitude = -magnitude;
  if (magnitude >> 53) magnitude = (magnitude & ~0x7ffull) | (magnitude & 0x7ff ? 0x800 : 0);
  const auto number = static_cast<double>(magnitude);
  return negative ? -number : number;
}

/// x rounded to an integer as CUDA's conversions do: limited to what the type holds; NaN becomes 0.
template <std::integral Integer>
__forceinline__ Integer to_integer(float x, Round round) {
  using Limits = std::numeric_limits<Integer>;
  if (x != x) return 0;
  float whole = x;
  switch (round) {
    case Round::nearest:
      whole = std::nearbyint(x);
      break;
    case Round::zero:
      whole = std::trunc(x);
      break;
    case Round::down:
      whole = std::floor(x);
      break;
    case Round::up:
      whole = std::ceil(x);
      break;
  }
  constexpr double beyond = static_cast<double>(Limits::max() / 2 + 1) * 2;  // a power of two
  if (whole >= beyond) return Limits::max();
  if (whole <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<Integer>(whole);
}

}  // namespace simt

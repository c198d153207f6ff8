// CUDA's integer intrinsics on whole words: products, bytes and bits of words, averages, dot products.
#pragma once

#include <cstdint>

#include "common/simt/language/types.hpp"

/// The upper half of the product.
[[gnu::always_inline]] constexpr int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<std::int64_t>(a) * b >> 32);
}
[[gnu::always_inline]] constexpr unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
[[gnu::always_inline]] constexpr long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
[[gnu::always_inline]] constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
/// The lower half of the product of the lowest 24 bits.
[[gnu::always_inline]] constexpr unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
[[gnu::always_inline]] constexpr int __mul24(int a, int b) {
  const auto low = [](int x) { return std::int64_t{static_cast<int>(static_cast<unsigned>(x) << 8) >> 8}; };
  return static_cast<int>(low(a) * low(b));
}

/// c + |a - b|.
[[gnu::always_inline]] constexpr unsigned __sad(int a, int b, unsigned c) {
  const std::int64_t difference = static_cast<std::int64_t>(a) - b;
  return c + static_cast<unsigned>(difference < 0 ? -difference : difference);
}
[[gnu::always_inline]] constexpr unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return c + (a > b ? a - b : b - a);
}
/// Averages without overflow: rounded down, and (with an r) up.
[[gnu::always_inline]] constexpr int __hadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b) >> 1);
}
[[gnu::always_inline]] constexpr int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b + 1) >> 1);
}
[[gnu::always_inline]] constexpr unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b) >> 1);
}
[[gnu::always_inline]] constexpr unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b + 1) >> 1);
}

/// Four of the eight bytes of y:x: the lowest three bits of each hexadecimal digit of `selector` name one.
[[gnu::always_inline]] constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(y) << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned digit = selector >> (4 * i) & 7;
    result |= (static_cast<unsigned>(bytes >> (8 * digit)) & 0xff) << (8 * i);
  }
  return result;
}
// The upper (left) or lower (right) word of high:low, shifted; by at most 31, or, with a c, by at most 32.
[[gnu::always_inline]] constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
[[gnu::always_inline]] constexpr unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
[[gnu::always_inline]] constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >> (shift & 31));
}
[[gnu::always_inline]] constexpr unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
/// The place of the |offset|-th set bit of mask at or above (offset > 0), or at or below (offset < 0), bit `base`; for 0,
/// bit `base` itself, if it is set. ~0 if there is none.
[[gnu::always_inline]] constexpr unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return mask >> (base & 31) & 1 ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
    if (mask >> bit & 1 && (offset -= step) == 0) return static_cast<unsigned>(bit);
  }
  return ~0u;
}

namespace simt {
/// The `index`-th part of a word that is made of Parts.
template <class Part, class Word>
[[gnu::always_inline]] constexpr Part part(Word word, unsigned index) {
  return static_cast<Part>(word >> (8 * sizeof(Part) * index));
}
/// c + the sum of `count` products of parts of a and of bytes of b, from byte `first` on.
template <class A, class B, class Word>
[[gnu::always_inline]] constexpr Word dot(Word a, Word b, Word c, unsigned count, unsigned first = 0) {
  for (unsigned i = 0; i < count; ++i) {
    c = static_cast<Word>(static_cast<unsigned>(c) +
                          static_cast<unsigned>(part<A>(a, i)) * static_cast<unsigned>(part<B>(b, first + i)));
  }
  return c;
}
}  // namespace simt
[[gnu::always_inline]] constexpr int __dp4a(int a, int b, int c) {
  return simt::dot<signed char, signed char>(a, b, c, 4);
}
[[gnu::always_inline]] constexpr unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return simt::dot<unsigned char, unsigned char>(a, b, c, 4);
}
[[gnu::always_inline]] constexpr int __dp4a(char4 a, char4 b, int c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
[[gnu::always_inline]] constexpr unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + static_cast<unsigned>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
[[gnu::always_inline]] constexpr int __dp2a_lo(int a, int b, int c) {
  return simt::dot<short, signed char>(a, b, c, 2);
}
[[gnu::always_inline]] constexpr unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return simt::dot<unsigned short, unsigned char>(a, b, c, 2);
}
[[gnu::always_inline]] constexpr int __dp2a_hi(int a, int b, int c) {
  return simt::dot<short, signed char>(a, b, c, 2, 2);
}
[[gnu::always_inline]] constexpr unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return simt::dot<unsigned short, unsigned char>(a, b, c, 2, 2);
}
[[gnu::always_inline]] constexpr int __dp2a_lo(short2 a, char4 b, int c) {
  return c + a.x * b.x + a.y * b.y;
}
[[gnu::always_inline]] constexpr unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) {
  return c + static_cast<unsigned>(a.x * b.x + a.y * b.y);
}
[[gnu::always_inline]] constexpr int __dp2a_hi(short2 a, char4 b, int c) {
  return c + a.x * b.z + a.y * b.w;
}
[[gnu::always_inline]] constexpr unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) {
  return c + static_cast<unsigned>(a.x * b.z + a.y * b.w);
}

// The halves of a double.
[[gnu::always_inline]] inline double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double,
                            static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low));
}
[[gnu::always_inline]] inline int __double2hiint(double x) {
  return static_cast<int>(__builtin_bit_cast(std::uint64_t, x) >> 32);
}
[[gnu::always_inline]] inline int __double2loint(double x) {
  return static_cast<int>(__builtin_bit_cast(std::uint64_t, x));
}

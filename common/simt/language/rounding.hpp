// CUDA's arithmetic and conversions that say how they round. Where a direction other than "to nearest" is asked for, a
// function of rounding.cpp sets it for one operation: slower, but right by the CPU's own arithmetic.
#pragma once

#include "common/simt/language/math.hpp"

namespace simt {

enum class Direction { nearest, zero, up, down };

// Each for float and double.
template <class T>
T add(T a, T b, Direction direction) noexcept;
template <class T>
T subtract(T a, T b, Direction direction) noexcept;
template <class T>
T multiply(T a, T b, Direction direction) noexcept;
template <class T>
T divide(T a, T b, Direction direction) noexcept;
template <class T>
T square_root(T a, Direction direction) noexcept;
template <class T>
T multiply_add(T a, T b, T c, Direction direction) noexcept;
/// float from double, int, unsigned, long long, unsigned long long; double from the last two.
template <class To, class From>
To convert(From x, Direction direction) noexcept;

}  // namespace simt

// __fmul_rn, __fadd_rn and __fsub_rn promise not to become part of a fused multiply-add.
#define SIMT_TO_NEAREST(T, prefix, suffix, fma)                  \
  [[gnu::always_inline]] inline T __##prefix##mul_rn(T a, T b) { \
    return simt::opaque(a * b);                                  \
  }                                                              \
  [[gnu::always_inline]] inline T __##prefix##add_rn(T a, T b) { \
    return simt::opaque(a) + simt::opaque(b);                    \
  }                                                              \
  [[gnu::always_inline]] inline T __##prefix##sub_rn(T a, T b) { \
    return simt::opaque(a) - simt::opaque(b);                    \
  }                                                              \
  [[gnu::always_inline]] inline T __##prefix##div_rn(T a, T b) { \
    return a / b;                                                \
  }                                                              \
  [[gnu::always_inline]] inline T __##prefix##rcp_rn(T a) {      \
    return 1 / a;                                                \
  }                                                              \
  [[gnu::always_inline]] inline T __##prefix##sqrt_rn(T a) {     \
    return __builtin_sqrt##suffix(a);                            \
  }                                                              \
  [[gnu::always_inline]] inline T __##fma##_rn(T a, T b, T c) {  \
    return __builtin_fma##suffix(a, b, c);                       \
  }
#define SIMT_DIRECTED(T, prefix, fma, letter, direction)               \
  [[gnu::always_inline]] inline T __##prefix##mul_##letter(T a, T b) { \
    return simt::multiply(a, b, simt::Direction::direction);           \
  }                                                                    \
  [[gnu::always_inline]] inline T __##prefix##add_##letter(T a, T b) { \
    return simt::add(a, b, simt::Direction::direction);                \
  }                                                                    \
  [[gnu::always_inline]] inline T __##prefix##sub_##letter(T a, T b) { \
    return simt::subtract(a, b, simt::Direction::direction);           \
  }                                                                    \
  [[gnu::always_inline]] inline T __##prefix##div_##letter(T a, T b) { \
    return simt::divide(a, b, simt::Direction::direction);             \
  }                                                                    \
  [[gnu::always_inline]] inline T __##prefix##rcp_##letter(T a) {      \
    return simt::divide<T>(1, a, simt::Direction::direction);          \
  }                                                                    \
  [[gnu::always_inline]] inline T __##prefix##sqrt_##letter(T a) {     \
    return simt::square_root(a, simt::Direction::direction);           \
  }                                                                    \
  [[gnu::always_inline]] inline T __##fma##_##letter(T a, T b, T c) {  \
    return simt::multiply_add(a, b, c, simt::Direction::direction);    \
  }
#define SIMT_ARITHMETIC(T, prefix, suffix, fma) \
  SIMT_TO_NEAREST(T, prefix, suffix, fma)       \
  SIMT_DIRECTED(T, prefix, fma, rz, zero)       \
  SIMT_DIRECTED(T, prefix, fma, ru, up)         \
  SIMT_DIRECTED(T, prefix, fma, rd, down)
SIMT_ARITHMETIC(float, f, f, fmaf)
SIMT_ARITHMETIC(double, d, , fma)
#undef SIMT_ARITHMETIC
#undef SIMT_DIRECTED
#undef SIMT_TO_NEAREST
// Those of floats keep subnormal numbers here, whatever nvcc's -ftz says.
#define __fmaf_ieee_rn __fmaf_rn
#define __fmaf_ieee_rz __fmaf_rz
#define __fmaf_ieee_ru __fmaf_ru
#define __fmaf_ieee_rd __fmaf_rd

#define SIMT_CONVERSION(name, From, To)                       \
  [[gnu::always_inline]] inline To name##_rn(From x) {        \
    return static_cast<To>(x);                                \
  }                                                           \
  [[gnu::always_inline]] inline To name##_rz(From x) {        \
    return simt::convert<To, From>(x, simt::Direction::zero); \
  }                                                           \
  [[gnu::always_inline]] inline To name##_ru(From x) {        \
    return simt::convert<To, From>(x, simt::Direction::up);   \
  }                                                           \
  [[gnu::always_inline]] inline To name##_rd(From x) {        \
    return simt::convert<To, From>(x, simt::Direction::down); \
  }
SIMT_CONVERSION(__int2float, int, float)
SIMT_CONVERSION(__uint2float, unsigned, float)
SIMT_CONVERSION(__ll2float, long long, float)
SIMT_CONVERSION(__ull2float, unsigned long long, float)
SIMT_CONVERSION(__ll2double, long long, double)
SIMT_CONVERSION(__ull2double, unsigned long long, double)
SIMT_CONVERSION(__double2float, double, float)
#undef SIMT_CONVERSION
// Exact, so CUDA has but one.
[[gnu::always_inline]] inline double __int2double_rn(int x) {
  return x;
}
[[gnu::always_inline]] inline double __uint2double_rn(unsigned x) {
  return x;
}

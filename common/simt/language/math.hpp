// CUDA's arithmetic and memory intrinsics. Where the GPU's are approximations (__expf, rsqrtf, ...), these are as exact
// as the C library's.
#pragma once

#include <math.h>

#include <bit>
#include <cstdint>
#include <limits>

// Loads and stores with a cache hint are plain loads and stores, of any scalar or vector type.
#define SIMT_LOAD(name)                                 \
  template <class T>                                    \
  [[gnu::always_inline]] inline T name(const T* from) { \
    return *from;                                       \
  }
#define SIMT_STORE(name)                                    \
  template <class T>                                        \
  [[gnu::always_inline]] inline void name(T* to, T value) { \
    *to = value;                                            \
  }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_LOAD
#undef SIMT_STORE

namespace simt {

/// x, of which the compiler no longer knows how it came about: no product that it could fuse with a sum.
template <class T>
[[gnu::always_inline]] inline T opaque(T x) {
#if defined(__aarch64__)
  __asm__("" : "+w"(x));
#else
  __asm__("" : "+x"(x));
#endif
  return x;
}

/// To an integer as the GPU does it: too large becomes the largest, too small the smallest, NaN becomes `nan`.
template <class To, class From>
[[gnu::always_inline]] inline To saturate(From rounded, To nan) {
  using Limits = std::numeric_limits<To>;
  // 2^bits, which is exact where the largest integer is not.
  const From end = static_cast<From>(Limits::max() / 2 + 1) * 2;
  if (rounded != rounded) return nan;
  if (rounded >= end) return Limits::max();
  if (rounded < static_cast<From>(Limits::min())) return Limits::min();
  return static_cast<To>(rounded);
}

}  // namespace simt

[[gnu::always_inline]] inline float __fdividef(float a, float b) {
  return a / b;
}
[[gnu::always_inline]] inline float fdividef(float a, float b) {
  return a / b;
}
[[gnu::always_inline]] inline double fdivide(double a, double b) {
  return a / b;
}
[[gnu::always_inline]] inline float __frsqrt_rn(float x) {
  return static_cast<float>(1 / __builtin_sqrt(static_cast<double>(x)));
}
[[gnu::always_inline]] inline float __saturatef(float x) {
  return x >= 1 ? 1.0f : x > 0 ? x : 0.0f;  // NaN becomes 0
}

// C linkage, because glibc's <math.h> declares functions of these names (rsqrt since 2.42); noexcept, as it does.
extern "C" {
[[gnu::always_inline]] inline float rsqrtf(float x) noexcept {
  return 1 / __builtin_sqrtf(x);
}
[[gnu::always_inline]] inline double rsqrt(double x) noexcept {
  return 1 / __builtin_sqrt(x);
}
[[gnu::always_inline]] inline float __expf(float x) noexcept {
  return __builtin_expf(x);
}
[[gnu::always_inline]] inline float __exp10f(float x) noexcept {
  return __builtin_exp10f(x);
}
[[gnu::always_inline]] inline float __logf(float x) noexcept {
  return __builtin_logf(x);
}
[[gnu::always_inline]] inline float __log2f(float x) noexcept {
  return __builtin_log2f(x);
}
[[gnu::always_inline]] inline float __log10f(float x) noexcept {
  return __builtin_log10f(x);
}
[[gnu::always_inline]] inline float __sinf(float x) noexcept {
  return __builtin_sinf(x);
}
[[gnu::always_inline]] inline float __cosf(float x) noexcept {
  return __builtin_cosf(x);
}
[[gnu::always_inline]] inline float __tanf(float x) noexcept {
  return __builtin_tanf(x);
}
[[gnu::always_inline]] inline float __powf(float x, float y) noexcept {
  return __builtin_powf(x, y);
}
}

#define SIMT_BITS(name, From, To)                    \
  [[gnu::always_inline]] constexpr To name(From x) { \
    return std::bit_cast<To>(x);                     \
  }
SIMT_BITS(__float_as_int, float, int)
SIMT_BITS(__int_as_float, int, float)
SIMT_BITS(__float_as_uint, float, unsigned)
SIMT_BITS(__uint_as_float, unsigned, float)
SIMT_BITS(__double_as_longlong, double, long long)
SIMT_BITS(__longlong_as_double, long long, double)
#undef SIMT_BITS

// To an integer, rounded to nearest even, towards zero, up, down.
#define SIMT_TO_INTEGER(from, From, to, To, suffix, nan)            \
  [[gnu::always_inline]] inline To __##from##2##to##_rn(From x) {   \
    return simt::saturate<To>(__builtin_nearbyint##suffix(x), nan); \
  }                                                                 \
  [[gnu::always_inline]] inline To __##from##2##to##_rz(From x) {   \
    return simt::saturate<To>(__builtin_trunc##suffix(x), nan);     \
  }                                                                 \
  [[gnu::always_inline]] inline To __##from##2##to##_ru(From x) {   \
    return simt::saturate<To>(__builtin_ceil##suffix(x), nan);      \
  }                                                                 \
  [[gnu::always_inline]] inline To __##from##2##to##_rd(From x) {   \
    return simt::saturate<To>(__builtin_floor##suffix(x), nan);     \
  }
// PTX, cvt: a NaN becomes 0, but the result's top bit alone if either side has 64 bits.
#define SIMT_TOP_BIT 0x8000000000000000u
SIMT_TO_INTEGER(float, float, int, int, f, 0)
SIMT_TO_INTEGER(float, float, uint, unsigned, f, 0)
SIMT_TO_INTEGER(float, float, ll, long long, f, static_cast<long long>(SIMT_TOP_BIT))
SIMT_TO_INTEGER(float, float, ull, unsigned long long, f, SIMT_TOP_BIT)
SIMT_TO_INTEGER(double, double, int, int, , static_cast<int>(0x80000000u))
SIMT_TO_INTEGER(double, double, uint, unsigned, , 0x80000000u)
SIMT_TO_INTEGER(double, double, ll, long long, , static_cast<long long>(SIMT_TOP_BIT))
SIMT_TO_INTEGER(double, double, ull, unsigned long long, , SIMT_TOP_BIT)
#undef SIMT_TO_INTEGER
#undef SIMT_TOP_BIT

// min and max of the global namespace. Of two floating-point numbers, one of which is NaN, the result is the other.
#define SIMT_MIN_MAX(A, B, Result)                                       \
  [[gnu::always_inline]] constexpr Result min(A a, B b) {                \
    const Result x = static_cast<Result>(a), y = static_cast<Result>(b); \
    return y < x ? y : x;                                                \
  }                                                                      \
  [[gnu::always_inline]] constexpr Result max(A a, B b) {                \
    const Result x = static_cast<Result>(a), y = static_cast<Result>(b); \
    return x < y ? y : x;                                                \
  }
#define SIMT_MIN_MAX_INTEGER(T)                    \
  SIMT_MIN_MAX(T, T, T)                            \
  SIMT_MIN_MAX(unsigned T, unsigned T, unsigned T) \
  SIMT_MIN_MAX(T, unsigned T, unsigned T)          \
  SIMT_MIN_MAX(unsigned T, T, unsigned T)
SIMT_MIN_MAX_INTEGER(int)
SIMT_MIN_MAX_INTEGER(long)
SIMT_MIN_MAX_INTEGER(long long)
#undef SIMT_MIN_MAX_INTEGER
#undef SIMT_MIN_MAX

#define SIMT_MIN_MAX_FLOAT(A, B, Result, suffix)          \
  [[gnu::always_inline]] constexpr Result min(A a, B b) { \
    return __builtin_fmin##suffix(a, b);                  \
  }                                                       \
  [[gnu::always_inline]] constexpr Result max(A a, B b) { \
    return __builtin_fmax##suffix(a, b);                  \
  }
SIMT_MIN_MAX_FLOAT(float, float, float, f)
SIMT_MIN_MAX_FLOAT(double, double, double, )
SIMT_MIN_MAX_FLOAT(float, double, double, )
SIMT_MIN_MAX_FLOAT(double, float, double, )
#undef SIMT_MIN_MAX_FLOAT

// The same under names of their own. Templates, so that a program's own functions of these names win.
template <class = void>
[[gnu::always_inline]] constexpr unsigned umin(unsigned a, unsigned b) {
  return min(a, b);
}
template <class = void>
[[gnu::always_inline]] constexpr unsigned umax(unsigned a, unsigned b) {
  return max(a, b);
}
[[gnu::always_inline]] constexpr long long llmin(long long a, long long b) {
  return min(a, b);
}
[[gnu::always_inline]] constexpr long long llmax(long long a, long long b) {
  return max(a, b);
}
[[gnu::always_inline]] constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
[[gnu::always_inline]] constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}

/// Does nothing: there is no time to pass.
[[gnu::always_inline]] inline void __nanosleep(unsigned) {}

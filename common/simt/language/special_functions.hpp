// CUDA's mathematical functions that C++ lacks. Those that take more than a line are in special_functions.cpp: their
// inner workings are no work of the kernel's.
#pragma once

#include "common/simt/language/math.hpp"

namespace simt {

double sin_pi(double x) noexcept;
double cos_pi(double x) noexcept;
/// x with erf(x) = y; with erfc(x) = y.
double inverse_erf(double y) noexcept;
double inverse_erfc(double y) noexcept;
/// exp(x x) erfc(x), which is finite where erfc(x) has become 0.
double scaled_erfc(double x) noexcept;
/// The modified Bessel function of the first kind, of order 0 or 1.
double bessel_i(int order, double x) noexcept;
/// The length of (a, b, c, d), which does not overflow where the squares would.
double length(double a, double b, double c, double d) noexcept;
/// 1 / length, 0 where that is infinite.
double inverse_length(double a, double b, double c, double d) noexcept;
/// The length so far and one more component.
double longer(double length, double component) noexcept;

}  // namespace simt

// C linkage, because glibc's <math.h> declares functions of these names (sinpi since 2.41, rsqrt since 2.42); noexcept,
// as it does. What leads out by a pointer is stored here, where it is seen.
#define SIMT_FUNCTION1(name, suffix, T, value)                 \
  [[gnu::always_inline]] inline T name##suffix(T x) noexcept { \
    return static_cast<T>(value);                              \
  }
#define SIMT_FUNCTIONS(suffix, T)                                                                 \
  extern "C" {                                                                                    \
  SIMT_FUNCTION1(rcbrt, suffix, T, 1 / cbrt(static_cast<double>(x)))                              \
  SIMT_FUNCTION1(sinpi, suffix, T, simt::sin_pi(x))                                               \
  SIMT_FUNCTION1(cospi, suffix, T, simt::cos_pi(x))                                               \
  SIMT_FUNCTION1(tanpi, suffix, T, simt::sin_pi(x) / simt::cos_pi(x))                             \
  SIMT_FUNCTION1(erfinv, suffix, T, simt::inverse_erf(x))                                         \
  SIMT_FUNCTION1(erfcinv, suffix, T, simt::inverse_erfc(x))                                       \
  SIMT_FUNCTION1(erfcx, suffix, T, simt::scaled_erfc(x))                                          \
  SIMT_FUNCTION1(normcdf, suffix, T, 0.5 * erfc(static_cast<double>(x) * -M_SQRT1_2))             \
  SIMT_FUNCTION1(normcdfinv, suffix, T, -M_SQRT2* simt::inverse_erfc(2 * static_cast<double>(x))) \
  SIMT_FUNCTION1(cyl_bessel_i0, suffix, T, simt::bessel_i(0, x))                                  \
  SIMT_FUNCTION1(cyl_bessel_i1, suffix, T, simt::bessel_i(1, x))                                  \
  [[gnu::always_inline]] inline T rhypot##suffix(T a, T b) noexcept {                             \
    return static_cast<T>(simt::inverse_length(a, b, 0, 0));                                      \
  }                                                                                               \
  [[gnu::always_inline]] inline T norm3d##suffix(T a, T b, T c) noexcept {                        \
    return static_cast<T>(simt::length(a, b, c, 0));                                              \
  }                                                                                               \
  [[gnu::always_inline]] inline T rnorm3d##suffix(T a, T b, T c) noexcept {                       \
    return static_cast<T>(simt::inverse_length(a, b, c, 0));                                      \
  }                                                                                               \
  [[gnu::always_inline]] inline T norm4d##suffix(T a, T b, T c, T d) noexcept {                   \
    return static_cast<T>(simt::length(a, b, c, d));                                              \
  }                                                                                               \
  [[gnu::always_inline]] inline T rnorm4d##suffix(T a, T b, T c, T d) noexcept {                  \
    return static_cast<T>(simt::inverse_length(a, b, c, d));                                      \
  }                                                                                               \
  [[gnu::always_inline]] inline T norm##suffix(int dim, const T* p) noexcept {                    \
    double length = 0;                                                                            \
    for (int i = 0; i < dim; ++i) length = simt::longer(length, p[i]);                            \
    return static_cast<T>(length);                                                                \
  }                                                                                               \
  [[gnu::always_inline]] inline T rnorm##suffix(int dim, const T* p) noexcept {                   \
    double length = 0;                                                                            \
    for (int i = 0; i < dim; ++i) length = simt::longer(length, p[i]);                            \
    return static_cast<T>(1 / length);                                                            \
  }                                                                                               \
  [[gnu::always_inline]] inline void sincospi##suffix(T x, T* sine, T* cosine) noexcept {         \
    *sine = static_cast<T>(simt::sin_pi(x));                                                      \
    *cosine = static_cast<T>(simt::cos_pi(x));                                                    \
  }                                                                                               \
  }
SIMT_FUNCTIONS(f, float)
SIMT_FUNCTIONS(, double)
#undef SIMT_FUNCTIONS
#undef SIMT_FUNCTION1

// Of the functions that C++ has no overload of, CUDA has one for float.
#define SIMT_OVERLOAD(name)                                    \
  [[gnu::always_inline]] inline float name(float x) noexcept { \
    return name##f(x);                                         \
  }
SIMT_OVERLOAD(rsqrt)
SIMT_OVERLOAD(rcbrt)
SIMT_OVERLOAD(sinpi)
SIMT_OVERLOAD(cospi)
SIMT_OVERLOAD(exp10)
SIMT_OVERLOAD(erfinv)
SIMT_OVERLOAD(erfcinv)
SIMT_OVERLOAD(erfcx)
SIMT_OVERLOAD(normcdf)
SIMT_OVERLOAD(normcdfinv)
SIMT_OVERLOAD(cyl_bessel_i0)
SIMT_OVERLOAD(cyl_bessel_i1)
SIMT_OVERLOAD(j0)
SIMT_OVERLOAD(j1)
SIMT_OVERLOAD(y0)
SIMT_OVERLOAD(y1)
#undef SIMT_OVERLOAD
[[gnu::always_inline]] inline float jn(int order, float x) noexcept {
  return jnf(order, x);
}
[[gnu::always_inline]] inline float yn(int order, float x) noexcept {
  return ynf(order, x);
}
[[gnu::always_inline]] inline void sincospi(float x, float* sine, float* cosine) noexcept {
  sincospif(x, sine, cosine);
}
[[gnu::always_inline]] inline void sincos(float x, float* sine, float* cosine) noexcept {
  *sine = __builtin_sinf(x);
  *cosine = __builtin_cosf(x);
}
[[gnu::always_inline]] inline void __sincosf(float x, float* sine, float* cosine) noexcept {
  sincos(x, sine, cosine);
}

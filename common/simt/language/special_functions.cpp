#include "common/simt/language/special_functions.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace simt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The derivative of erf.
double erf_slope(double x) {
  return 2 / std::sqrt(std::numbers::pi) * std::exp(-x * x);
}

}  // namespace

// Exact at multiples of a half: the argument is reduced before it is multiplied by pi.
double sin_pi(double x) noexcept {
  if (!std::isfinite(x)) return nan;
  int quotient = 0;
  const double rest = std::remquo(x, 0.5, &quotient);  // x = quotient / 2 + rest, |rest| <= 1/4
  const double angle = std::numbers::pi * rest;
  const int quarter = quotient & 3;
  const double value = quarter % 2 == 0 ? std::sin(angle) : std::cos(angle);
  if (value == 0) return std::copysign(0.0, x);
  return quarter < 2 ? value : -value;
}
double cos_pi(double x) noexcept {
  if (!std::isfinite(x)) return nan;
  int quotient = 0;
  const double rest = std::remquo(x, 0.5, &quotient);
  const double angle = std::numbers::pi * rest;
  const int quarter = quotient & 3;
  const double value = quarter % 2 == 0 ? std::cos(angle) : std::sin(angle);
  if (value == 0) return 0;
  return quarter == 1 || quarter == 2 ? -value : value;
}

// By bisection to a good start, then by Newton's steps, each of which doubles the number of right digits.
double inverse_erf(double y) noexcept {
  if (!(std::fabs(y) <= 1)) return nan;
  if (y == 0) return y;
  if (std::fabs(y) == 1) return std::copysign(infinity, y);
  if (y > 0.5) return inverse_erfc(1 - y);  // exact: Sterbenz
  if (y < -0.5) return -inverse_erfc(1 + y);
  double x = y * std::sqrt(std::numbers::pi) / 2;
  for (int i = 0; i < 6; ++i) x -= (std::erf(x) - y) / erf_slope(x);
  return x;
}
double inverse_erfc(double y) noexcept {
  if (!(y >= 0 && y <= 2)) return nan;
  if (y == 0) return infinity;
  if (y == 2) return -infinity;
  if (y > 1) return -inverse_erfc(2 - y);
  if (y > 0.5) return inverse_erf(1 - y);
  double low = 0, high = 28;  // erfc(28) is 0
  for (int i = 0; i < 20; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle) > y ? low : high) = middle;
  }
  double x = (low + high) / 2;
  for (int i = 0; i < 3; ++i) {
    const double slope = erf_slope(x);
    if (slope == 0) break;
    x += (std::erfc(x) - y) / slope;
  }
  return x;
}

double scaled_erfc(double x) noexcept {
  if (x < 25) {
    // exp(x x) with x x as a sum of two numbers: it is the exponent whose error would be multiplied.
    const double square = x * x, rest = std::fma(x, x, -square);
    return std::exp(square) * std::exp(rest) * std::erfc(x);
  }
  // The asymptotic series; from 25 on five terms are all that a double can tell.
  const double inverse = 1 / (2 * x * x);
  double term = 1, sum = 1;
  for (int n = 1; n < 6; ++n) {
    term *= -(2 * n - 1) * inverse;
    sum += term;
  }
  return sum / (x * std::sqrt(std::numbers::pi));
}

double bessel_i(int order, double x) noexcept {
  if (x != x) return x;
  if (std::isinf(x)) return order == 1 && x < 0 ? -infinity : infinity;
  const double magnitude = std::fabs(x);
  const double value = magnitude > 713 ? infinity : std::cyl_bessel_i(order, magnitude);
  return order == 1 && x < 0 ? -value : value;
}

double length(double a, double b, double c, double d) noexcept {
  return std::hypot(std::hypot(a, b), std::hypot(c, d));
}
double inverse_length(double a, double b, double c, double d) noexcept {
  return 1 / length(a, b, c, d);
}
double longer(double length, double component) noexcept {
  return std::hypot(length, component);
}

}  // namespace simt

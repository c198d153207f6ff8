// Test data: element i of a matrix is a function of (distribution, seed, i), so host and device, and any order of
// generation, give the same numbers.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "common/problem/distribution.hpp"

namespace gemm {

struct Generator {
  Distribution distribution = Distribution::uniform;
  std::uint64_t seed = 1;
  int integer_limit = 8;

  /// splitmix64 (Steele, Lea and Flood 2014): a bijection of 64-bit words whose outputs pass statistical tests.
  __host__ __device__ static std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }

  __host__ __device__ float operator()(std::uint64_t index) const { return number<float>(index); }

  /// Real: float or double, whose numbers have all their 24 or 53 bits; or __half, which has floats rounded to nearest,
  /// those beyond its range to its largest.
  template <class Real>
  __host__ __device__ Real number(std::uint64_t index) const {
    if constexpr (sizeof(Real) == 2)
      return static_cast<Real>(fminf(fmaxf(number<float>(index), -65504.0f), 65504.0f));
    else
      return wide_number<Real>(index);
  }

 private:
  template <class Real>
  __host__ __device__ Real wide_number(std::uint64_t index) const {
    constexpr bool single = sizeof(Real) == sizeof(float);
    const std::uint64_t bits = mix(mix(seed) ^ index);
    const std::uint64_t more = single ? bits : mix(bits);  // a double takes more of them than one word has
    const Real positive = in_unit_interval<Real>(bits);
    const Real uniform = positive * 2 - 1;
    switch (distribution) {
      case Distribution::uniform:
        return uniform;
      case Distribution::positive:
        return positive;
      case Distribution::normal: {  // Box-Muller; the second number from other bits, 1 - positive keeps log finite
        if constexpr (single) {
          const float angle = 6.2831853f * (static_cast<float>(bits & 0xffffff) * 0x1p-24f);
          return sqrtf(-2.0f * logf(1.0f - positive)) * cosf(angle);
        } else {
          return sqrt(-2 * log(1 - positive)) * cos(6.283185307179586 * in_unit_interval<double>(more));
        }
      }
      case Distribution::integers: {
        const auto choices = static_cast<std::uint64_t>(2 * integer_limit + 1);
        return static_cast<Real>(static_cast<int>((bits >> 32) * choices >> 32) - integer_limit);
      }
      case Distribution::wide: {
        const int exponent = static_cast<int>((more & 0xffff) * 46 >> 16) - 30;
        const Real magnitude = uniform < 0 ? uniform - 1 : uniform + 1;
        if constexpr (single)
          return ldexpf(magnitude, exponent);
        else
          return ldexp(magnitude, exponent);
      }
      case Distribution::tiny:
        return uniform * static_cast<Real>(0x1p-40);
      case Distribution::huge:
        return uniform * static_cast<Real>(0x1p50);
    }
    return 0;
  }

  // From the high bits: exact, in [0, 1).
  template <class Real>
  __host__ __device__ static Real in_unit_interval(std::uint64_t bits) {
    if constexpr (sizeof(Real) == sizeof(float))
      return static_cast<float>(bits >> 40) * 0x1p-24f;
    else
      return static_cast<double>(bits >> 11) * 0x1p-53;
  }
};

}  // namespace gemm

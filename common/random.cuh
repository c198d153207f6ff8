// Test data: element i of a matrix is a function of (distribution, seed, i), so host and device, and any order of
// generation, give the same numbers.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

namespace gemm {

enum class Distribution {
  uniform,   ///< [-1, 1): what is timed
  positive,  ///< [0, 1): sums grow, so rounding errors do too
  normal,    ///< mean 0, variance 1
  integers,  ///< whole numbers in [-limit, limit]: products and sums are exact, results comparable bit for bit
  wide,      ///< signed, exponents uniform in [-30, 15]
  tiny,      ///< uniform * 2^-40: below what FP16 can hold, products still normal in FP32
  huge,      ///< uniform * 2^50: above what FP16 can hold, products and sums still finite in FP32
};

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

  __host__ __device__ float operator()(std::uint64_t index) const {
    const std::uint64_t bits = mix(mix(seed) ^ index);
    const float positive = static_cast<float>(bits >> 40) * 0x1p-24f;  // 24 bits: exact, in [0, 1)
    const float uniform = positive * 2.0f - 1.0f;
    switch (distribution) {
      case Distribution::uniform:
        return uniform;
      case Distribution::positive:
        return positive;
      case Distribution::normal: {  // Box-Muller; the second number from the low bits, 1 - positive keeps log finite
        const float angle = 6.2831853f * (static_cast<float>(bits & 0xffffff) * 0x1p-24f);
        return sqrtf(-2.0f * logf(1.0f - positive)) * cosf(angle);
      }
      case Distribution::integers: {
        const auto choices = static_cast<std::uint64_t>(2 * integer_limit + 1);
        return static_cast<float>(static_cast<int>((bits >> 32) * choices >> 32) - integer_limit);
      }
      case Distribution::wide: {
        const int exponent = static_cast<int>((bits & 0xffff) * 46 >> 16) - 30;
        return ldexpf(uniform < 0 ? uniform - 1.0f : uniform + 1.0f, exponent);
      }
      case Distribution::tiny:
        return uniform * 0x1p-40f;
      case Distribution::huge:
        return uniform * 0x1p50f;
    }
    return 0.0f;
  }
};

}  // namespace gemm

// What test data look like.
#pragma once

namespace gemm {

/// random.cuh in common/check/ makes them.
enum class Distribution {
  uniform,   ///< [-1, 1): what is timed
  positive,  ///< [0, 1): sums grow, so rounding errors do too
  normal,    ///< mean 0, variance 1
  integers,  ///< whole numbers in [-limit, limit]: products and sums are exact, results comparable bit for bit
  wide,      ///< signed, exponents uniform in [-30, 15]
  tiny,      ///< uniform * 2^-40: below what FP16 can hold, products still normal in FP32
  huge,      ///< uniform * 2^50: above what FP16 can hold, products and sums still finite in FP32
};

}  // namespace gemm

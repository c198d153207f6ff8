// The FP64 result that every stage is judged by.
#pragma once

#include "common/device_memory.hpp"
#include "common/problem.hpp"

namespace gemm {

/// Both m x n, row-major, without padding.
struct Reference {
  DeviceArray<double> c;          ///< alpha * A * B + beta * C
  DeviceArray<double> magnitude;  ///< |alpha| * |A| * |B| + |beta| * |C|: what an error is measured against
};

/// Computes the reference on the device from the problem's own inputs: products of floats are exact in FP64, sums round
/// at 2^-53. C is read (unless beta is zero) and not written.
Reference compute_reference(const SgemmProblem& problem);

}  // namespace gemm

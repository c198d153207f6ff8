// The result that every stage is judged by: in FP64 for FP32 and FP16 problems, in twice FP64's precision for FP64
// problems.
#pragma once

#include "common/backend/device_memory.hpp"
#include "common/problem/problem.hpp"

namespace gemm {

/// Each as large as the result, row-major, without padding; a complex number is two neighbours.
struct Reference {
  DeviceArray<double> c;          ///< alpha * op(A) * B + beta * C
  DeviceArray<double> low;        ///< what c lacks; empty for FP32 problems, where it would not matter
  DeviceArray<double> magnitude;  ///< |alpha| * |A| * |B| + |beta| * |C|: what an error is measured against; of complex
                                  ///< numbers the same for both parts, from their moduli
};

/// Computes the reference on the device from the problem's own inputs: products of floats are exact in FP64, sums round
/// at 2^-53; for doubles both at about 2^-106. The result is read (unless beta is zero) and not written.
Reference compute_reference(const Problem& problem);

}  // namespace gemm

// The problem every SGEMM stage solves: C = alpha * A * B + beta * C, FP32, row-major.
#pragma once

#include <cstdint>

namespace gemm {

/// A is m x k (row stride lda >= k), B is k x n (ldb >= n), C is m x n (ldc >= n); all in device memory, aligned to
/// four bytes and no more. Strides are in elements. As in BLAS, beta = 0 means that C is written and never read.
struct SgemmProblem {
  int m = 0, n = 0, k = 0;
  float alpha = 1.0f;
  const float* a = nullptr;
  std::int64_t lda = 0;
  const float* b = nullptr;
  std::int64_t ldb = 0;
  float beta = 0.0f;
  float* c = nullptr;
  std::int64_t ldc = 0;

  /// Scratch in device memory for stages that ask for it (StageInfo::workspace_floats), aligned to 256 bytes. Its first
  /// StageInfo::workspace_zeros elements are 0, for the stage to count with, and 0 again after each launch; the rest is
  /// undefined before each launch. Two launches at the same time need one each.
  float* workspace = nullptr;

  /// The number of products per element that count: BLAS forbids reading A and B when alpha is zero (they may hold
  /// NaN), and a product over zero terms gives just that, so kernels are launched with this instead of k.
  int depth() const { return alpha == 0.0f ? 0 : k; }
};

}  // namespace gemm

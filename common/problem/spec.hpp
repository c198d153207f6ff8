// A problem as a user states it: sizes, scalars, layout and data.
#pragma once

#include <cstdint>
#include <string>

#include "common/problem/distribution.hpp"
#include "common/problem/kernel_options.hpp"
#include "common/problem/problem.hpp"

namespace gemm {

/// All row-major: C (m x n) = alpha * A (m x k) * B (k x n) + beta * C, or one of the
/// others in common/problem/problem.hpp.
struct ProblemSpec {
  Operation op = Operation::gemm;
  Type type = Type::f32;
  bool conjugate = false;  ///< of TSMTTSM: A^H, not A^T
  int m = 0, n = 0;
  std::int64_t k = 0;
  int batch = 1;                           ///< so many products, their matrices below one another in memory (GEMM)
  std::int64_t lda = 0, ldb = 0, ldc = 0;  ///< elements; 0 means no padding
  double alpha = 1, beta = 0;
  double alpha_imag = 0, beta_imag = 0;  ///< of complex problems
  int offset = 0;                        ///< A, B and C start this many elements past a 256-byte boundary
  Distribution distribution = Distribution::uniform;
  std::uint64_t seed = 1;
  KernelOptions kernel = {};  ///< for stages that generate their kernels

  std::int64_t row_a() const { return op == Operation::gemm ? k : m; }  ///< the length of A's rows; the others have n
  std::int64_t row_stride_a() const { return lda ? lda : (row_a() > 0 ? row_a() : 1); }
  std::int64_t row_stride_b() const { return ldb ? ldb : (n > 0 ? n : 1); }
  std::int64_t row_stride_c() const { return ldc ? ldc : (n > 0 ? n : 1); }
  /// As stages are given it, but without operands.
  Problem problem() const;
  /// A B of whole matrices and uniform data, and no option of a kernel is chosen: what is measured and committed.
  bool is_plain() const;
  /// The result is read: beta is not zero.
  bool reads_result() const { return beta != 0 || beta_imag != 0; }
  bool reads_operands() const { return alpha != 0 || alpha_imag != 0; }
  std::int64_t terms() const { return op == Operation::tsmm ? m : k; }  ///< products an element of the result
  /// Of a complex product four multiplications and four additions.
  double flops() const { return (type == Type::c64 ? 8.0 : 2.0) * batch * m * n * static_cast<double>(k); }
  /// What must cross device memory at least: the operands once, the result once, and once more if it is read.
  double compulsory_bytes() const;
  /// Throws UsageError: negative sizes, a leading dimension below the row.
  void validate() const;
};

/// "1024 x 1024 x 1024, alpha 1, beta 0, ..."
std::string describe(const ProblemSpec& spec);

}  // namespace gemm

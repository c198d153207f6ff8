// One problem laid out in device memory with its FP64 reference, and the check that every kernel goes through.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/compare.hpp"
#include "common/contender.hpp"
#include "common/counts.hpp"
#include "common/launch_log.hpp"
#include "common/matrix.hpp"
#include "common/problem.hpp"
#include "common/random.cuh"

namespace gemm {

/// A problem as a user states it, all row-major: C (m x n) = alpha * A (m x k) * B (k x n) + beta * C, or one of the
/// others in common/problem.hpp.
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

enum class Outcome { pass, fail, skip };

struct Verdict {
  Outcome outcome = Outcome::pass;
  std::string reason;     ///< why not pass
  bool compared = false;  ///< whether there was a result to compare, that is, whether `error` means anything
  Comparison error;
  std::string policy;                  ///< what the contender chose, if it has a choice
  std::vector<LaunchRecord> launches;  ///< what the stage launched
  Observation observation;             ///< what the CPU executor saw of it
  double launch_seconds = 0;           ///< wall time of the launch, to its end
  bool device_lost = false;            ///< a fault inside a kernel: CUDA runs nothing more in this process
};

/// A verdict reached without a result to compare.
inline Verdict verdict_without_result(Outcome outcome, std::string reason, bool device_lost = false) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.reason = std::move(reason);
  verdict.device_lost = device_lost;
  return verdict;
}

class Workbench {
 public:
  /// Allocates, fills, and computes the reference. Throws UsageError or DeviceError.
  explicit Workbench(const ProblemSpec& spec);

  const ProblemSpec& spec() const { return spec_; }
  Problem problem() const;

  /// C as it is before a launch: poison if beta = 0, else the original values.
  void reset_output();
  /// Resets C, launches, waits, and inspects: the numbers, the words around C, the inputs.
  Verdict check(const Contender& contender);
  /// Inspects what an earlier launch left.
  Verdict inspect(const Contender& contender) const;

 private:
  ProblemSpec spec_;
  Matrix x_, y_, out_;              // as in Problem
  std::optional<Matrix> original_;  // of the result, only if beta is not zero
  Reference reference_;
  std::uint64_t fingerprint_x_, fingerprint_y_;
};

/// Up to so many terms there are whole numbers, if only -1, 0 and 1, whose sums of products are sure to be exact.
constexpr std::int64_t max_exact_depth(Type type) {
  return (result_of(type) == Type::f32 ? std::int64_t{1} << 22 : std::int64_t{1} << 40) - 4;
}

/// The same problem on whole numbers, which every correct kernel gets exactly right. Terms up to max_exact_depth.
ProblemSpec with_exact_integers(ProblemSpec spec);

}  // namespace gemm

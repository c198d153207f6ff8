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

/// A problem as a user states it: C (m x n) = alpha * A (m x k) * B (k x n) + beta * C, all row-major.
struct ProblemSpec {
  int m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;  ///< elements; 0 means no padding
  float alpha = 1.0f, beta = 0.0f;
  int offset = 0;  ///< A, B and C start this many elements past a 256-byte boundary
  Distribution distribution = Distribution::uniform;
  std::uint64_t seed = 1;

  std::int64_t row_stride_a() const { return lda ? lda : (k > 0 ? k : 1); }
  std::int64_t row_stride_b() const { return ldb ? ldb : (n > 0 ? n : 1); }
  std::int64_t row_stride_c() const { return ldc ? ldc : (n > 0 ? n : 1); }
  double flops() const { return 2.0 * m * n * k; }
  /// What must cross device memory at least: A and B once, C once, and once more if it is read.
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
  SgemmProblem problem() const;

  /// C as it is before a launch: poison if beta = 0, else the original values.
  void reset_output();
  /// Resets C, launches, waits, and inspects: the numbers, the words around C, the inputs.
  Verdict check(const Contender& contender);
  /// Inspects what an earlier launch left.
  Verdict inspect(const Contender& contender) const;

 private:
  ProblemSpec spec_;
  Matrix a_, b_, c_;
  std::optional<Matrix> original_c_;  // only if beta is not zero
  Reference reference_;
  std::uint64_t fingerprint_a_, fingerprint_b_;
};

/// Up to this K there are whole numbers, if only -1, 0 and 1, whose sums of products are sure to be exact.
inline constexpr int max_exact_depth = (1 << 22) - 4;

/// The same problem on whole numbers, which every correct kernel gets exactly right. K up to max_exact_depth.
ProblemSpec with_exact_integers(ProblemSpec spec);

}  // namespace gemm

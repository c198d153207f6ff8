// One problem laid out in device memory with its FP64 reference, and the check that every kernel goes through.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/backend/counts.hpp"
#include "common/check/compare.hpp"
#include "common/check/contender.hpp"
#include "common/check/matrix.hpp"
#include "common/check/random.cuh"
#include "common/check/stage_run.hpp"
#include "common/kernel/launch_log.hpp"
#include "common/problem/problem.hpp"
#include "common/problem/spec.hpp"

namespace gemm {

enum class Outcome { pass, fail, skip };

struct Verdict {
  Outcome outcome = Outcome::pass;
  std::string reason;                    ///< why not pass
  std::vector<std::string> explanation;  ///< what it comes from, as far as it is known (explain.hpp): sentences
  bool compared = false;  ///< whether there was a result to compare, that is, whether `error` means anything
  Comparison error;
  std::string policy;                  ///< what the contender chose, if it has a choice
  std::vector<LaunchRecord> launches;  ///< what the stage launched
  Observation observation;             ///< what the CPU executor saw of it
  double launch_seconds = 0;           ///< wall time of the launch, to its end
  bool ended = false;                  ///< the stage's process ended, or was stopped: it would be again
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

/// What lies between and around the rows, and in a result that is not to be read: traps, or numbers, from which it can be told
/// what a wrong kernel has read (explain.hpp).
enum class Surroundings { poison, numbers };

class Workbench {
 public:
  /// Allocates, fills, and computes the reference. Throws UsageError or DeviceError.
  explicit Workbench(const ProblemSpec& spec, Surroundings surroundings = Surroundings::poison);

  const ProblemSpec& spec() const { return spec_; }
  Problem problem() const;

  /// C as it is before a launch: poison if beta = 0, else the original values.
  void reset_output();
  /// Resets C, launches, waits, and inspects: the numbers, the words around C, the inputs.
  Verdict check(const Contender& contender, Looking looking = {});
  /// Inspects what an earlier launch left.
  Verdict inspect(const Contender& contender) const;

  const Matrix& x() const { return x_; }
  const Matrix& y() const { return y_; }
  const Matrix& out() const { return out_; }
  const Reference& reference() const { return reference_; }

 private:
  Verdict inspect_result(Accuracy accuracy) const;
  /// Why the result is no work of the kernels that were just observed; empty if it is.
  std::string not_by_kernel() const;
  void fill_with_traps();
  void fill_with_numbers();
  void guard_operands() const;

  ProblemSpec spec_;
  Matrix x_, y_, out_;              // as in Problem
  std::optional<Matrix> original_;  // of the result, if it begins as numbers
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

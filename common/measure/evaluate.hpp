// Checks and times contenders on one problem: what every program of the repository does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/backend/timing.hpp"
#include "common/check/contender.hpp"
#include "common/check/workbench.hpp"
#include "common/measure/reference_gpu.hpp"
#include "common/measure/roofline.hpp"

namespace gemm {

struct EvaluateOptions {
  bool check = true;
  bool exact = true;     ///< check on whole numbers, too, which must come out exactly (where K allows)
  bool explain = false;  ///< look for what a wrong result comes from (common/check/explain.hpp)
  bool time = true;
  bool yardstick = true;  ///< time the library alternately with each contender
  bool count = false;     ///< on the CPU executor: what the check's run did to memory
  bool lines = false;     ///< and line by line
  TimingOptions timing;
  /// Timed is only what takes less than this a launch; the rest is skipped, and the reason says so. 0: no limit.
  double budget_ms = 0;
  /// About how long a launch takes, in ms: with a budget, what is too slow by this is not even launched. May be empty.
  std::function<double(const Contender&)> estimate_ms;
};

struct TimedResult {
  Samples own;
  std::optional<Samples> yardstick;  ///< the library, timed alternately with this contender
  DeviceState state;
  std::optional<Samples> back_to_back;  ///< if asked for: without any other work between launches
  DeviceState back_to_back_state;
};

struct Result {
  std::string id;
  std::string base;              ///< as in Stage
  const Stage* stage = nullptr;  ///< null for a library
  Accuracy accuracy = Accuracy::fp32;
  ProblemSpec spec;
  bool checked = false;
  Verdict verdict;
  std::optional<TimedResult> timed;  ///< only if asked for, and only if the check passed
  std::optional<Counts> counts;      ///< only if asked for, and only if the check passed
  std::vector<LineCounts> lines;
  std::optional<RecordedCode> code;     ///< if its machine code is on record
  std::optional<Prediction> predicted;  ///< on the reference GPU, from the counts (reference_gpu.hpp)
  /// Of another program's stage (common/commands/ladder_programs.hpp): what it says of its bound, and of the roofline.
  std::string bound;
  std::optional<double> told_percent_of_roofline;
  double launch_seconds = 0;  ///< of the check's last launch, to its end, seen from outside
  double check_seconds = 0;   ///< wall time of the check: on the CPU executor the only clock there is

  /// Its kernel's options ask for a wrong result, for a time to compare with: nothing is checked, and there is no
  /// speed.
  bool incorrect_on_purpose() const { return stage && stage->generated && spec.kernel.incorrect_on_purpose(); }
  double gflops() const;
  double back_to_back_gflops() const;  ///< 0 if it was not timed so
  double gbytes_s() const;
  /// 100 * yardstick / own, by medians.
  std::optional<double> percent_of_yardstick() const;
  /// 100 * roofline of the problem / own. Nothing without a time, without ceilings, and for arithmetic coarser than the
  /// problem's, which has another roofline.
  /// With `tensor_cores`, of that with FP64 on the Tensor Cores.
  std::optional<double> percent_of_roofline(const std::optional<Ceilings>& ceilings, bool tensor_cores = false) const;
  /// What the counts and the machine code say; only with counts.
  CountedBound counted_bound() const {
    return gemm::counted_bound(*counts, code ? std::optional(code->instructions) : std::nullopt);
  }
  /// Blocks of the launch with the most.
  unsigned blocks() const;
};

/// The results of contenders that are not run on a problem, for this reason.
std::vector<Result> all_skipped(const std::vector<Contender>& contenders, const ProblemSpec& spec,
                                const std::string& reason);

/// Called with a line about what comes next, for a progress display. May be empty.
using Progress = std::function<void(const std::string&)>;

/// Evaluates each contender on the problem. A stage that answers `unsupported`, or needs a newer GPU, is skipped; a
/// timed contender's last sample is checked again. Throws UsageError and DeviceError.
std::vector<Result> evaluate(const std::vector<Contender>& contenders, const ProblemSpec& spec,
                             const EvaluateOptions& options, const Progress& progress);

}  // namespace gemm

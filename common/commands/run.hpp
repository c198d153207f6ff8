// One stage on one problem.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/measure/evaluate.hpp"
#include "common/problem/spec.hpp"

namespace CLI {
class App;
}

namespace gemm {

/// What one stage's own executable, and `gemm run`, offer.
struct RunOptions {
  ProblemSpec spec;
  std::optional<Type> type;
  std::optional<int> m, n;  ///< not given: what runs in about a second
  std::optional<std::int64_t> k;
  EvaluateOptions evaluate;
  double timeout = 60;  ///< seconds
  bool check_asked = false, time_asked = false, count_asked = false, lines_asked = false;
  std::string json;
};
void add_run_options(CLI::App& app, RunOptions& options);
/// Those that say what the problem is.
void add_problem_options(CLI::App& app, RunOptions& options);

/// Throws UsageError if there are kernel options, and the stage has none or can't have these for this problem.
void require_kernel_options(const ProblemSpec& spec, const Stage& stage);

/// Settles what problem the options mean for this stage. Throws UsageError.
void settle_problem(RunOptions& options, const Stage& stage);

/// The same, and what --check, --time and --count mean together: by default
/// check, and time where there is a GPU, else count. Throws UsageError and DeviceError for what can't be run or
/// written.
void prepare(RunOptions& options, const Stage& stage);

/// Runs the stage as the options say and reports. Returns the exit status.
int run_stage(const Stage& stage, RunOptions options, const std::string& command);

}  // namespace gemm

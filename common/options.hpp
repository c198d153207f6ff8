// Command-line options that the programs share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/evaluate.hpp"
#include "common/names.hpp"
#include "common/shapes.hpp"

namespace CLI {
class App;
}

namespace gemm {

struct LadderOptions;   // common/ladder.hpp
struct ProgramResults;  // common/ladder_programs.hpp

/// --type s|h|d|z. Throws UsageError for others.
void add_type_option(CLI::App& app, std::optional<Type>& type);

/// Makes it a problem of this operation and type; without a type, of the first that the operation has here. Throws
/// UsageError if it does not have this one.
void set_kind(ProblemSpec& spec, Operation op, std::optional<Type> type);

/// --cache --seconds
void add_timing_options(CLI::App& app, TimingOptions& timing);

/// --tile-m --tile-n --transposed --leapfrog --unroll --reduction --c-source --threads-per-row --threads, for stages
/// that generate their kernels, and --kernel-cache.
void add_kernel_options(CLI::App& app, KernelOptions& options);

/// What one stage's own executable, and `gemm run`, offer.
struct RunOptions {
  ProblemSpec spec;
  std::optional<Type> type;
  std::optional<int> m, n;  ///< not given: what runs in about a second
  std::optional<std::int64_t> k;
  EvaluateOptions evaluate;
  bool check_asked = false, time_asked = false, count_asked = false, lines_asked = false;
  std::string json;
};
void add_run_options(CLI::App& app, RunOptions& options);

/// Throws UsageError if there are kernel options, and the stage has none or can't have these for this problem.
void require_kernel_options(const ProblemSpec& spec, const Stage& stage);

/// Settles what problem the options mean for this stage, and what --check, --time and --count mean together: by default
/// check, and time where there is a GPU, else count. Throws UsageError and DeviceError for what can't be run or
/// written.
void prepare(RunOptions& options, const Stage& stage);

/// Runs the stage as the options say and reports. Returns the exit status.
int run_stage(const Stage& stage, RunOptions options, const std::string& command);

/// Parses and runs: exceptions become one line on standard error and the exit status (2 for bad usage or no device).
int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

/// The main function of a single stage's executable: one problem, or with the word `ladder` first the stage's part of a
/// ladder, for ladder_program().
int stage_program(const Stage& stage, int argc, char** argv);

/// The main function of the ladder over programs of single stages, which run_programs() runs.
int ladder_program(int argc, char** argv, ProgramResults (*run_programs)(const LadderOptions&));

/// The command line as the user typed it, without directories.
std::string command_line(int argc, char** argv);

/// A progress line on standard error, overwritten in place on a terminal, silent otherwise.
void show_progress(const std::string& text);

}  // namespace gemm

// Command-line options that the programs share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/evaluate.hpp"
#include "common/probe.hpp"

namespace gemm {

const char* distribution_name(Distribution distribution);
Distribution distribution_of(const std::string& name);  ///< throws UsageError if there is none
const char* operation_name(Operation op);
const char* type_name(Type type);

Type type_of(const std::string& letter);  ///< s, h, d or z; throws UsageError for others

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

/// What `gemm probe NAME`, and the executable of a numbered probe, offer.
void add_probe_options(CLI::App& app, const Probe& probe, ProbeRequest& request);

/// Parses "1024" or "333x777x1555" (M x N x K). Throws UsageError.
ProblemSpec parse_shape(const std::string& text);

/// The problems that are measured and committed for every stage (docs/measurements/).
const std::vector<std::string>& standard_shapes();

/// Those of them at which the check is shown to tell right from wrong (with the largest the tests would take too long).
const std::vector<std::string>& calibration_shapes();

/// Cubes from `step` to 4096 in such steps, then to 8192 in steps of 512. Throws UsageError for a step below 16.
std::vector<std::string> sweep_shapes(int step);

/// Ten shapes that nobody has chosen: M, N and K from 200 to 8192, by the seed.
std::vector<std::string> random_shapes(std::uint64_t seed);

/// Parses and runs: exceptions become one line on standard error and the exit status (2 for bad usage or no device).
int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

/// The command line as the user typed it, without directories.
std::string command_line(int argc, char** argv);

/// A progress line on standard error, overwritten in place on a terminal, silent otherwise.
void show_progress(const std::string& text);

}  // namespace gemm

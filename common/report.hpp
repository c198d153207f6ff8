// Results for people (a table) and for programs (JSON).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/evaluate.hpp"
#include "common/kernel_options_json.hpp"

namespace gemm {

/// One object per problem and contender; docs/concepts/output.md describes every field. Without ceilings (CPU) or
/// times, the fields that need them are absent.
Json to_json(const Result& result, const std::optional<Ceilings>& ceilings, const TimingOptions& timing);

/// What stands in "time_ms", and in "state" (null without NVML).
Json to_json(const Samples& samples);
Json to_json(const DeviceState& state);

/// A result with what a plot needs and nothing else: shape, status, reason, times, ratios.
Json shortened(const Json& result);

/// A report of many results as text: a line for each of them, and for each field beside them.
std::string report_text(const Json& report);

/// What a file of measurements must say of its circumstances: device, driver, CUDA, cuBLAS, commit, command, ceilings.
Json provenance(const std::string& command, const std::optional<Ceilings>& ceilings);

/// A table over results of one problem, each line at most 120 columns wide. On the CPU executor it shows what was
/// checked and the predicted bound instead of times.
std::string table(const std::vector<Result>& results, const std::optional<Ceilings>& ceilings, bool colour);

/// pass, fail, skip, or unchecked for what was timed and not checked.
std::string status_of(const Result& result);

/// "1024 x 1024 x 1024, alpha 1, beta 0, ..."
std::string describe(const ProblemSpec& spec);

/// A faster-than-possible cold result is a fault of the harness. Empty if all is well, else the complaint.
std::string implausible(const Result& result, const std::optional<Ceilings>& ceilings, const TimingOptions& timing);

/// Writes text to a file by way of a temporary one beside it, so that nothing half-written is ever seen; "-" is
/// standard output, and what is no regular file (a pipe, a device) is written to directly. Throws UsageError.
void write_text(const std::string& path, const std::string& text);

/// Throws UsageError now if write_text would later, so that no long work is lost. An empty path is fine: nothing to
/// write.
void require_writable(const std::string& path);

/// Prints text for people on standard output, unless that is where the JSON goes.
void tell(const std::string& json_path, const std::string& text);

/// 0 if all passed or were skipped, 1 if any failed or is implausible, which is said on standard error.
int exit_status(const std::vector<Result>& results, const std::optional<Ceilings>& ceilings = std::nullopt,
                const TimingOptions& timing = {});

}  // namespace gemm

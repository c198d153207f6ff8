// Results for programs: docs/concepts/output.md describes every field.
#pragma once

#include <optional>
#include <string>

#include "common/measure/evaluate.hpp"
#include "common/problem/spec.hpp"
#include "common/report/json.hpp"

namespace gemm {

/// One object per problem and contender. Without ceilings (CPU) or
/// times, the fields that need them are absent.
Json to_json(const Result& result, const std::optional<Ceilings>& ceilings, const TimingOptions& timing);

/// What stands in "problem".
Json to_json(const ProblemSpec& spec);

/// What stands in "time_ms", and in "state" (null without NVML).
Json to_json(const Samples& samples);
Json to_json(const DeviceState& state);

/// A result with what a plot needs and nothing else: shape, status, reason, times, ratios.
Json shortened(const Json& result);

/// A report of many results as text: a line for each of them, and for each field beside them.
std::string report_text(const Json& report);

}  // namespace gemm

// Each access of a stage's warps, as JSON.
#pragma once

#include <string>

#include "common/backend/trace.hpp"
#include "common/commands/run.hpp"

namespace gemm {

/// What `trace` of one stage's own executable, and `gemm trace`, offer.
struct TraceOptions {
  RunOptions run;
  TraceChoice choice;
  std::string json = "-";
};
void add_trace_options(CLI::App& app, TraceOptions& options);

/// Traces the stage on the problem that the options mean, by default one that holds a whole tile of any stage. Returns the
/// exit status. Throws UsageError, DeviceError and, if the stage ends its process, StageError.
int trace_stage(const Stage& stage, TraceOptions options, const std::string& command);

}  // namespace gemm

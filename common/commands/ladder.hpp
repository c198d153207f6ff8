// The command `ladder`: stages beside the library, on the same problems.
#pragma once

#include <string>

#include "common/commands/ladder_options.hpp"

namespace gemm {

/// Runs the ladder and reports. Returns the exit status: 0 if all are right or skipped, else 1. Throws UsageError and
/// DeviceError.
int ladder(LadderOptions options, const std::string& command);

}  // namespace gemm

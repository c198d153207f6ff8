// All that must hold of one stage: every property, with the first failure of each.
#pragma once

#include <string>

#include "common/problem/registry.hpp"

namespace CLI {
class App;
}

namespace gemm {

struct CheckOptions {
  bool quick = false;   ///< only the few problems that together take every path
  bool brief = false;   ///< one line if all is right
  int processes = 1;    ///< that share the trials
  double timeout = 60;  ///< seconds that a launch may take
  std::string json;
};
void add_check_options(CLI::App& app, CheckOptions& options);

/// Checks the stage and reports. Returns the exit status: 1 if anything failed. Throws UsageError and DeviceError.
int check_stage(const Stage& stage, const CheckOptions& options, const std::string& command);

}  // namespace gemm

// What `check` finds out of a stage: each property, and of each that does not hold the first trial that shows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/problem/registry.hpp"

namespace gemm {

struct Failure {
  std::string problem;  ///< on which; may be empty
  std::string reason;
  std::vector<std::string> explanation;
  bool ended = false;  ///< the stage's process: it would end, or have to be stopped, again and again
};

struct Finding {
  std::string name, says;
  int problems = 0;    ///< that were run, without those that the stage refuses
  double seconds = 0;  ///< of all of them, also where several ran at a time
  std::optional<Failure> failure = {};
  std::string warning = {};  ///< the first of the problems that are right; empty: none
};

/// `quick`: only of the few problems that together take every path. What is found does not depend on how many processes share
/// the trials. To be called before the stage is launched. Throws UsageError and DeviceError.
std::vector<Finding> find_out(const Stage& stage, bool quick, int processes);

}  // namespace gemm

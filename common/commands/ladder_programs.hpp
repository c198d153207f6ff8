// Results of stages that live in programs of their own, for a ladder over them: no stage waits for another to be compiled,
// and one that can't be, or that crashes, takes no other with it.
#pragma once

#include <string>
#include <vector>

#include "common/commands/ladder_options.hpp"
#include "common/measure/evaluate.hpp"
#include "common/report/json.hpp"

namespace gemm {

struct ProgramResults {
  std::vector<ProblemSpec> problems;         ///< in the order in which they were met
  std::vector<std::vector<Result>> results;  ///< for each problem; without a stage, `bound` in its place
  std::vector<std::vector<Json>> json;       ///< the same, as the programs wrote it
  std::vector<std::string> lost;             ///< stages without results: not built, or crashed; a line each
};

/// Runs each of options.programs on options.forwarded. Throws UsageError with a program's own line for what it refuses.
ProgramResults results_of_programs(const LadderOptions& options);

}  // namespace gemm

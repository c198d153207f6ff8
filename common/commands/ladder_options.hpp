// What a ladder is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/backend/timing.hpp"
#include "common/problem/problem.hpp"

namespace CLI {
class App;
}

namespace gemm {

struct ProgramResults;  // common/commands/ladder_programs.hpp

struct LadderOptions {
  std::vector<std::string> shapes;
  std::vector<std::string> only;
  std::string family;
  std::optional<Operation> op;
  std::optional<Type> type;
  TimingOptions timing;
  KernelOptions kernel;
  int batch = 1;
  double timeout = 60;  ///< seconds
  std::string json;
  bool time = false, no_time = false;
  bool variants = false;
  bool with_libraries = false;
  bool standard = false;
  int sweep = 0;  // the step
  std::optional<std::uint64_t> random;
  std::optional<double> budget_ms;
  bool brief = false;
  bool part =
      false;  ///< of a ladder of many programs: a stage for another product has no results, and nothing is shown

  /// Runs other programs, each with one stage, in the order of the ladder: their stages, and none of this program's.
  ProgramResults (*run_programs)(const LadderOptions&) = nullptr;
  std::vector<std::string> programs;
  std::vector<std::string> broken;     ///< stages whose programs could not be built, "sgemm/05_thread_2x2: why not"
  std::vector<std::string> forwarded;  ///< the command line's words that those programs get, too

  bool many_shapes() const { return standard || sweep || random; }
};

/// Adds the command's options to a program.
void add_ladder_options(CLI::App& app, LadderOptions& options);

}  // namespace gemm

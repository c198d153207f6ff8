#include "common/commands/ladder_program.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "common/commands/ladder.hpp"
#include "common/commands/program.hpp"
#include "common/kernel/status.hpp"

namespace gemm {
namespace {

// No group: not shown. ./lab, which builds a program for each stage and none with all of them, gives these.
const char* const not_shown = "";

}  // namespace

int ladder_program(int argc, char** argv, ProgramResults (*run_programs)(const LadderOptions&)) {
  CLI::App app("All stages beside cuBLAS: check, time, compare");
  LadderOptions options;
  options.run_programs = run_programs;
  add_ladder_options(app, options);
  app.add_option("--program", options.programs, "a stage's program")->group(not_shown)->allow_extra_args(false);
  app.add_option("--broken", options.broken, "a stage that has none")->group(not_shown)->allow_extra_args(false);
  // What the stages' programs get: all but what is for this one.
  std::string typed = "ladder";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool ours = word == "--program" || word == "--broken", file = word == "--json";
    if (!ours) typed += " " + std::string(word);
    if (ours || file) {
      ++i;
      if (file && i < argc) typed += " " + std::string(argv[i]);
    } else if (!word.starts_with("--json=")) {
      options.forwarded.emplace_back(word);
    }
  }
  return run_program(app, argc, argv, [&] {
    if (options.programs.empty() && options.broken.empty()) throw UsageError("no stages: ./lab ladder names them");
    return ladder(options, typed);
  });
}

}  // namespace gemm

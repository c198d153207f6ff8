#include "common/commands/stage_program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "common/commands/check.hpp"
#include "common/commands/ladder.hpp"
#include "common/commands/program.hpp"
#include "common/commands/run.hpp"
#include "common/commands/trace.hpp"

namespace gemm {
namespace {

int part_of_ladder(const Stage& stage, int argc, char** argv) {
  CLI::App app(stage.id + ": " + std::string(stage.idea));
  LadderOptions options;
  add_ladder_options(app, options);
  app.add_flag("--part", options.part, "no results for products of other kinds")->group("");
  return run_program(app, argc, argv, [&] { return ladder(options, command_line(argc, argv)); });
}

int check_program(const Stage& stage, int argc, char** argv) {
  CLI::App app(stage.id + ": " + std::string(stage.idea));
  CheckOptions options;
  add_check_options(app, options);
  return run_program(app, argc, argv, [&] { return check_stage(stage, options, command_line(argc, argv)); });
}

// Another form of the kernel, if one is named.
const Stage& form_of(const Stage& stage, const std::string& variant) {
  return variant.empty() ? stage : find_stage(stage.id + ":" + variant);
}

int trace_program(const Stage& stage, int argc, char** argv) {
  CLI::App app(stage.id + ": " + std::string(stage.idea));
  TraceOptions options;
  add_trace_options(app, options);
  std::string variant;
  app.add_option("--variant", variant, "another form of the kernel: one of those that --variants shows");
  return run_program(app, argc, argv,
                     [&] { return trace_stage(form_of(stage, variant), options, command_line(argc, argv)); });
}

}  // namespace

int stage_program(const Stage& stage, int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "ladder") return part_of_ladder(stage, argc - 1, argv + 1);
  if (argc > 1 && std::string_view(argv[1]) == "check") return check_program(stage, argc - 1, argv + 1);
  if (argc > 1 && std::string_view(argv[1]) == "trace") return trace_program(stage, argc - 1, argv + 1);
  CLI::App app(stage.id + ": " + std::string(stage.idea));
  RunOptions options;
  add_run_options(app, options);
  std::string variant;
  app.add_option("--variant", variant, "another form of the kernel: one of those that --variants shows");
  bool list = false;
  app.add_flag("--variants", list, "show the variants");
  return run_program(app, argc, argv, [&] {
    if (list) {
      for (const Stage& form : variants(stage))
        fmt::print("{:<20}  {}\n", form.id.substr(stage.id.size() + 1), form.idea);
      return 0;
    }
    return run_stage(form_of(stage, variant), options, command_line(argc, argv));
  });
}

}  // namespace gemm

#include <CLI/CLI.hpp>
#include <memory>

#include "common/commands/commands.hpp"
#include "common/commands/run.hpp"

namespace gemm {
namespace {

struct RunCommand : RunOptions {
  std::string stage;
};

}  // namespace

void add_run_command(CLI::App& app, const std::string& command, Action& action) {
  const auto options = std::make_shared<RunCommand>();
  CLI::App* const self = app.add_subcommand("run", "one stage on one problem");
  self->add_option("stage", options->stage, "its id or number, as `list` shows it")->required();
  add_run_options(*self, *options);
  self->callback([options, command, &action] {
    action = [options, command] { return run_stage(find_stage(options->stage), *options, command); };
  });
}

}  // namespace gemm

#include <CLI/CLI.hpp>
#include <memory>

#include "common/commands/commands.hpp"
#include "common/commands/trace.hpp"

namespace gemm {
namespace {

struct TraceCommand : TraceOptions {
  std::string stage;
};

}  // namespace

void add_trace_command(CLI::App& app, const std::string& command, Action& action) {
  const auto options = std::make_shared<TraceCommand>();
  CLI::App* const self = app.add_subcommand("trace", "each access of a stage's warps to memory, as JSON (CPU build)");
  self->add_option("stage", options->stage, "its id or number, as `list` shows it")->required();
  add_trace_options(*self, *options);
  self->callback([options, command, &action] {
    action = [options, command] { return trace_stage(find_stage(options->stage), *options, command); };
  });
}

}  // namespace gemm

#include <CLI/CLI.hpp>
#include <memory>

#include "common/commands/commands.hpp"
#include "common/commands/ladder.hpp"

namespace gemm {

void add_ladder_command(CLI::App& app, const std::string& command, Action& action) {
  const auto options = std::make_shared<LadderOptions>();
  CLI::App* const self = app.add_subcommand("ladder", "all stages beside cuBLAS: check, time, compare");
  add_ladder_options(*self, *options);
  self->callback([options, command, &action] { action = [options, command] { return ladder(*options, command); }; });
}

}  // namespace gemm

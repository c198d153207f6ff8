#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "common/commands/commands.hpp"
#include "common/commands/probe.hpp"

namespace gemm {
namespace {

int list_probes() {
  for (const Probe& probe : all_probes())
    fmt::print("{:<{}}  {}\n", probe.name, probe.number.empty() ? 12 : 28, probe.idea);
  return 0;
}

}  // namespace

void add_probe_command(CLI::App& app, const std::string& command, Action& action) {
  CLI::App* all = app.add_subcommand("probe", "small kernels that measure the hardware; without a name: the list");
  all->require_subcommand(0, 1);
  all->callback([all, &action] {
    if (all->get_subcommands().empty()) action = list_probes;
  });
  for (const Probe& probe : all_probes()) {
    CLI::App* one = all->add_subcommand(probe.name, std::string(probe.idea));
    const auto request = std::make_shared<ProbeRequest>();
    if (!probe.number.empty()) one->alias(probe.number);
    add_probe_options(*one, probe, *request);
    one->callback([&probe, request, command, &action] {
      action = [&probe, request, command] { return run_probe(probe, *request, command); };
    });
  }
}

}  // namespace gemm

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ranges>

#include "common/commands/commands.hpp"
#include "common/problem/probe_registry.hpp"
#include "common/problem/registry.hpp"

namespace gemm {
namespace {

// Numbered probes stand where their number says; scripts know them by the word behind the id.
int list(bool with_variants) {
  const auto numbered = [](const Probe& probe) { return !probe.number.empty(); };
  auto probes = all_probes() | std::views::filter(numbered);
  auto probe = probes.begin();
  const auto probes_before = [&](const std::string* id) {
    for (; probe != probes.end() && (!id || probe->name < *id); ++probe)
      fmt::print("{:<28}  (probe) {}\n", probe->name, probe->idea);
  };
  for (const Stage& stage : stages()) {
    probes_before(&stage.id);
    const std::string since =
        stage.base.empty() ? "" : fmt::format(" (since {})", stage.base.substr(stage.base.find('/') + 1));
    fmt::print("{:<28}  {}{}\n", stage.id, stage.idea, since);
    if (!with_variants) continue;
    for (const Stage& form : variants(stage))
      fmt::print("  {:<26}  {}\n", form.id.substr(form.id.find('/') + 1), form.idea);
  }
  probes_before(nullptr);
  return 0;
}

}  // namespace

void add_list_command(CLI::App& app, const std::string&, Action& action) {
  const auto with_variants = std::make_shared<bool>(false);
  CLI::App* const self = app.add_subcommand("list", "all stages");
  self->add_flag("--variants", *with_variants, "and their variants, which run as NN:name");
  self->callback([with_variants, &action] { action = [with_variants] { return list(*with_variants); }; });
}

}  // namespace gemm

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/backend/thread_map.hpp"
#include "common/commands/commands.hpp"
#include "common/problem/registry.hpp"
#include "common/report/files.hpp"
#include "common/report/json.hpp"

namespace gemm {
namespace {

// {stage id: {block: [x, y, z], kinds: [[thread, ...], ...], rows: [kind, ...]}}: for the part of C that block 0
// writes, the linear index of the thread that wrote each element. Rows of a tile repeat: each kind once, and for every
// row which it is.
int write_thread_maps(const std::string& path) {
  require_writable(path);
  Json maps;
  for (const Stage& stage : stages()) {
    const auto map = thread_map(stage);
    if (!map) continue;
    std::vector<std::vector<int>> kinds;
    std::vector<std::size_t> rows;
    for (const std::vector<int>& row : map->rows) {
      const auto kind = std::ranges::find(kinds, row);
      rows.push_back(static_cast<std::size_t>(kind - kinds.begin()));
      if (kind == kinds.end()) kinds.push_back(row);
    }
    maps[stage.id] = {{"block", {map->block.x, map->block.y, map->block.z}}, {"kinds", kinds}, {"rows", rows}};
  }
  write_text(path, maps.dump() + "\n");
  return 0;
}

}  // namespace

void add_map_command(CLI::App& app, const std::string&, Action& action) {
  const auto json = std::make_shared<std::string>("-");
  CLI::App* const self =
      app.add_subcommand("map", "which thread writes which element of C, found by running (CPU build)");
  self->add_option("--json", *json, "where to")->capture_default_str();
  self->callback([json, &action] { action = [json] { return write_thread_maps(*json); }; });
}

}  // namespace gemm

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/backend/thread_map.hpp"
#include "common/commands/commands.hpp"
#include "common/commands/program.hpp"
#include "common/problem/registry.hpp"
#include "common/report/files.hpp"
#include "common/report/json.hpp"
#include "common/report/thread_drawing.hpp"

namespace gemm {
namespace {

struct MapOptions {
  std::vector<std::string> stages;
  std::string json;
};

ThreadMap map_of(const Stage& stage) {
  auto map = thread_map(stage);
  if (!map) throw UsageError(stage.id + " refuses the problem that shows who writes what");
  return *map;
}

// {stage id: {block: [x, y, z], kinds: [[thread, ...], ...], rows: [kind, ...]}}: for the part of C that block 0
// writes, the linear index of the thread that wrote each element. Rows of a tile repeat: each kind once, and for every
// row which it is.
Json to_json(const ThreadMap& map) {
  std::vector<std::vector<int>> kinds;
  std::vector<std::size_t> rows;
  for (const std::vector<int>& row : map.rows) {
    const auto kind = std::ranges::find(kinds, row);
    rows.push_back(static_cast<std::size_t>(kind - kinds.begin()));
    if (kind == kinds.end()) kinds.push_back(row);
  }
  return {{"block", {map.block.x, map.block.y, map.block.z}}, {"kinds", kinds}, {"rows", rows}};
}

void draw(const Stage& stage) {
  const ThreadMap map = map_of(stage);
  const char* const result = stage.op == Operation::tsmm ? "B" : "C";
  if (map.rows.empty()) {
    fmt::print("{}: no picture: block 0 writes nothing of {}\n", stage.id, result);
  } else if (map.in_turns) {
    fmt::print("{}: no picture: several threads of a block write each element of {}, in turns\n", stage.id, result);
  } else {
    std::size_t width = 0;
    for (const auto& row : map.rows) width = std::max(width, row.size());
    const std::string launches =
        map.launches == 1 ? ""
                          : fmt::format("(of the stage's {} kernels, the last that writes {})\n", map.launches, result);
    fmt::print("{}\nwhich of a block's {} threads writes which element of its {} x {} tile of {}\n{}\n{}", stage.id,
               map.block.x * map.block.y * map.block.z, map.rows.size(), width, result, launches,
               drawing(map, colour()));
  }
}

int show_maps(const MapOptions& options) {
  require_writable(options.json);
  std::vector<const Stage*> chosen;
  for (const std::string& name : options.stages) chosen.push_back(&find_stage(name));
  if (options.json.empty()) {
    if (chosen.empty()) throw UsageError("map draws a stage: name one, such as 07; --json FILE writes all");
    for (const Stage* stage : chosen) {
      if (stage != chosen.front()) fmt::print("\n");
      draw(*stage);
    }
    return 0;
  }
  if (chosen.empty()) chosen = stages_for(Operation::gemm, Type::f32);
  Json maps;
  for (const Stage* stage : chosen) maps[stage->id] = to_json(map_of(*stage));
  write_text(options.json, maps.dump() + "\n");
  return 0;
}

}  // namespace

void add_map_command(CLI::App& app, const std::string&, Action& action) {
  const auto options = std::make_shared<MapOptions>();
  CLI::App* const self =
      app.add_subcommand("map", "which thread writes which element of C, found by running (CPU build)");
  self->add_option("stages", options->stages, "the stages to draw");
  self->add_option("--json", options->json,
                   "write the maps to this file (- for standard output), and draw nothing; default: of all stages of "
                   "the SGEMM ladder");
  self->callback([options, &action] { action = [options] { return show_maps(*options); }; });
}

}  // namespace gemm

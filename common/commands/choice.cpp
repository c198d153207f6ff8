#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/commands/commands.hpp"
#include "common/commands/options.hpp"
#include "common/kernel/status.hpp"
#include "common/problem/registry.hpp"
#include "common/report/files.hpp"
#include "common/report/kernel_options_json.hpp"

namespace gemm {
namespace {

struct ChoiceOptions {
  std::vector<std::string> shapes;
  std::vector<Type> types;
  std::int64_t k = any_long_side;
  std::string json;
};

// For each stage that chooses among others and each type: those, and a line for each m with a letter for each n, A
// being the first of them.
Json choice_maps(const std::vector<Type>& types, int widest) {
  Json maps = Json::object();
  for (const Stage& stage : stages()) {
    if (!stage.generated.chosen) continue;
    for (const Type type : types) {
      std::vector<std::string> chosen, lines;
      for (int m = 1; m <= widest; ++m) {
        std::string line;
        for (int n = 1; n <= widest; ++n) {
          const std::string id = stage.generated.chosen(m, n, any_long_side, false, type == Type::c64, {}).first;
          auto found = std::ranges::find(chosen, id);
          if (found == chosen.end()) found = chosen.insert(found, id);
          line += static_cast<char>('A' + (found - chosen.begin()));
        }
        lines.push_back(std::move(line));
      }
      maps[stage.id + (type == Type::c64 ? "/z" : "/d")] = {{"stages", chosen}, {"map", lines}};
    }
  }
  return maps;
}

// Which kernels the stages that choose among others take.
int choices(const ChoiceOptions& options) {
  require_writable(options.json);
  if (!options.json.empty()) {
    constexpr int widest = 64;
    if (!options.shapes.empty()) throw UsageError("--json writes the map of all sizes to 64 x 64: name none");
    write_text(options.json, choice_maps(options.types, widest).dump(1) + "\n");
    return 0;
  }
  std::vector<std::pair<int, int>> sizes = parse_sizes(options.shapes);
  if (options.shapes.empty()) {
    for (const int width : {1, 2, 4, 8, 12, 16, 24, 32, 48, 64}) sizes.emplace_back(width, width);
  }
  for (const Stage& stage : stages()) {
    if (!stage.generated.chosen) continue;
    fmt::print("{}: {}\n", stage.id, stage.idea);
    for (const Type type : options.types) {
      const bool is_complex = type == Type::c64;
      for (const auto& [m, n] : sizes) {
        const auto [id, used] = stage.generated.chosen(m, n, options.k, false, is_complex, {});
        fmt::print("  {:<7} {:>9}  {:<24} {}\n", is_complex ? "complex" : "real", fmt::format("{} x {}", m, n),
                   id.empty() ? "none" : id, to_json(used).dump());
      }
    }
  }
  return 0;
}

}  // namespace

void add_choice_command(CLI::App& app, const std::string&, Action& action) {
  const auto options = std::make_shared<ChoiceOptions>();
  CLI::App* const self = app.add_subcommand("choice", "which kernels the stages take that choose among others");
  self->add_option("sizes", options->shapes, "M, MxN or FIRST-LAST (squares); default: some squares");
  add_types_option(*self, options->types);
  CLI::Option* const k = self->add_option("--k", options->k, "rows of the long side (default: many)")
                             ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  self->add_option("--json", options->json, "write the map of all sizes to 64 x 64 to this file")->excludes(k);
  self->callback([options, &action] { action = [options] { return choices(*options); }; });
}

}  // namespace gemm

#include "common/commands/ladder_programs.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/commands/program.hpp"
#include "common/kernel/status.hpp"
#include "common/report/result_from_json.hpp"
#include "common/toolchain/process.hpp"

namespace gemm {
namespace {

// The file's name: FAMILY_NN_name.
std::string name_of(const std::string& program) {
  std::string name = std::filesystem::path(program).filename();
  if (const auto at = name.find('_'); at != name.npos) name[at] = '/';
  return name;
}

}  // namespace

ProgramResults results_of_programs(const LadderOptions& options) {
  ProgramResults all;
  all.lost = options.broken;
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "results.json";
  for (std::size_t i = 0; i < options.programs.size(); ++i) {
    const std::string& program = options.programs[i];
    show_progress(fmt::format("{} of {}: {}", i + 1, options.programs.size(), name_of(program)));
    std::vector<std::string> words = {program, "ladder"};
    words.insert(words.end(), options.forwarded.begin(), options.forwarded.end());
    words.insert(words.end(), {"--part", "--json", file});
    std::filesystem::remove(file);
    const Finished finished = run_process(words);
    // What it refuses, the others would refuse, too.
    if (finished.status == 2) {
      show_progress("");
      const std::string line = first_error(finished.output);
      throw UsageError(line.substr(line.starts_with("error: ") ? 7 : 0));
    }
    std::ifstream stream(file);
    const Json report = Json::parse(stream, nullptr, false);
    if (report.is_discarded() || !report.contains("results")) {
      const std::string last = finished.output.substr(0, finished.output.find('\n'));
      all.lost.push_back(finished.status > 128
                             ? fmt::format("{} crashed: signal {}", name_of(program), finished.status - 128)
                             : fmt::format("{} ended in the middle, exit status {}{}{}", name_of(program),
                                           finished.status, last.empty() ? "" : ": ", last));
      continue;
    }
    for (const Json& json : report["results"]) {
      Result result = result_from_json(json);
      std::size_t at = 0;
      while (at < all.problems.size() && describe(all.problems[at]) != describe(result.spec)) ++at;
      if (at == all.problems.size()) {
        all.problems.push_back(result.spec);
        all.results.emplace_back();
        all.json.emplace_back();
      }
      all.results[at].push_back(std::move(result));
      all.json[at].push_back(json);
    }
  }
  show_progress("");
  return all;
}

}  // namespace gemm

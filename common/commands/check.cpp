#include "common/commands/check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "common/backend/device.hpp"
#include "common/check/stage_run.hpp"
#include "common/commands/findings.hpp"
#include "common/commands/options.hpp"
#include "common/report/files.hpp"
#include "common/report/json.hpp"
#include "common/report/provenance.hpp"
#include "common/report/told.hpp"

namespace gemm {
namespace {

Json to_json(const Finding& finding) {
  Json json = {{"name", finding.name},
               {"says", finding.says},
               {"problems", finding.problems},
               {"seconds", finding.seconds},
               {"status", finding.failure ? "fail" : "pass"}};
  if (finding.failure) {
    json["failure"] = {{"problem", finding.failure->problem},
                       {"reason", finding.failure->reason},
                       {"explanation", finding.failure->explanation}};
  }
  if (!finding.warning.empty()) json["warning"] = finding.warning;
  return json;
}

// The first failure in full; the others mostly come from the same mistake.
std::string text_of(const std::vector<Finding>& findings, bool brief) {
  std::string text, others;
  const Finding* first = nullptr;
  for (const Finding& finding : findings) {
    if (!finding.failure) {
      if (!brief) text += fmt::format("  pass  {:<15}  {}\n", finding.name, finding.says);
      continue;
    }
    if (!brief) text += fmt::format("  FAIL  {:<15}  {}\n", finding.name, finding.says);
    if (first) others += (others.empty() ? "" : ", ") + finding.name;
    if (!first) first = &finding;
  }
  if (!first) {  // a warning may come from the same mistake as a failure: then it is not told
    const auto warns = std::ranges::find_if(findings, [](const Finding& each) { return !each.warning.empty(); });
    return warns == findings.end() ? text : text + fmt::format("  {}\n", warns->warning);
  }
  const Failure& failure = *first->failure;
  if (!failure.problem.empty()) text += fmt::format("  at {}:\n", failure.problem);
  text += fmt::format("  {}\n", failure.reason) + told(failure.reason, failure.explanation);
  if (failure.ended) text += "  Nothing else was tried.\n";
  if (brief && !others.empty()) text += fmt::format("  Not right either: {}.\n", others);
  return text;
}

}  // namespace

void add_check_options(CLI::App& app, CheckOptions& options) {
  app.add_flag("--quick", options.quick, "only the few problems that together take every path");
  app.add_flag("--brief", options.brief, "one line if all is right");
  app.add_option("--processes", options.processes, "as many share the trials")->check(CLI::Range(1, 256))->group("");
  add_timeout_option(app, options.timeout);
  app.add_option("--json", options.json, "write one JSON object to this file (- for standard output)");
}

int check_stage(const Stage& stage, const CheckOptions& options, const std::string& command) {
  require_writable(options.json);
  open_device();
  set_stages_apart(options.timeout);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Finding> findings = find_out(stage, options.quick, options.processes);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  int failures = 0, problems = 0;
  Json list = Json::array();
  for (const Finding& finding : findings) {
    failures += finding.failure.has_value();
    problems += finding.problems;
    list.push_back(to_json(finding));
  }
  std::string text = text_of(findings, options.brief);
  text += fmt::format("{}: {}, {} problems in {:.1f} s\n", stage.id,
                      failures ? fmt::format("fail, {} of {} properties", failures, findings.size()) : "pass", problems,
                      seconds);
  if (!options.json.empty()) {
    const Json json = {{"stage", stage.id},
                       {"status", failures ? "fail" : "pass"},
                       {"seconds", seconds},
                       {"properties", list},
                       {"run", provenance(command, std::nullopt)}};
    write_text(options.json, json.dump(options.json == "-" ? -1 : 1) + "\n");
  }
  tell(options.json, text);
  return failures ? 1 : 0;
}

}  // namespace gemm

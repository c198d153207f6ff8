#include "common/commands/probe.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/backend/ceilings.hpp"
#include "common/backend/device.hpp"
#include "common/commands/program.hpp"
#include "common/kernel/status.hpp"
#include "common/report/files.hpp"
#include "common/report/probe_report.hpp"
#include "common/report/provenance.hpp"
#include "common/report/result_json.hpp"
#include "common/report/text_table.hpp"

namespace gemm {
namespace {

// The first row is the head. Columns are a series, of sizes say: on a narrow terminal every second is left out.
std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return {};
  std::size_t most = 0;
  for (const auto& row : rows) most = std::max(most, row.size());
  std::vector<Column> columns(most);
  for (std::size_t i = 0; i < most; ++i)
    columns[i] = {{i < rows.front().size() ? rows.front()[i] : std::string()}, i > 0, i > 0 && i % 2 == 0};
  TextTable table(std::move(columns));
  for (std::size_t i = 1; i < rows.size(); ++i) table.add(rows[i]);
  return table.text();
}

}  // namespace

void add_probe_options(CLI::App& app, const Probe& probe, ProbeRequest& request) {
  app.add_option("--json", request.json, "write the results to this file (- for standard output)");
  CLI::Option* time = app.add_flag("--time", request.time, "time, or end with status 2 where there is no GPU");
  app.add_flag("--check", request.check, "only check what the kernels compute (the default without a GPU)")
      ->excludes(time);
  for (const ProbeOption& o : probe.options) {
    if (o.number)
      app.add_option(o.name, *o.number, o.description)->check(CLI::Range(o.least, o.most))->capture_default_str();
    if (o.word) app.add_option(o.name, *o.word, o.description)->check(CLI::IsMember(o.words))->capture_default_str();
    if (o.flag) app.add_flag(o.name, *o.flag, o.description);
  }
}

int run_probe(const Probe& probe, const ProbeRequest& request, const std::string& command) {
  require_writable(request.json);
  const DeviceInfo& device = open_device();
  if (request.time && !device.gpu)
    throw DeviceError("no device to time on: the CPU executor checks, and can't tell a GPU's speed");
  ProbeRun run;
  run.time = device.gpu && !request.check;
  std::optional<Ceilings> ceilings;
  if (device.gpu) run.sm_count = device.sm_count;
  if (run.time) {
    show_progress("measuring the ceilings");
    ceilings = measure_ceilings();
    show_progress("");
    run.machine = {device.name,           device.sm_count,    ceilings->read_gbs,  ceilings->latency_ns,
                   ceilings->dfma_gflops, ceilings->copy_gbs, ceilings->launch_us, ceilings->scale_gbs};
  }
  const ProbeReport report = probe.run(run);  // before anything is printed: it may refuse
  show_progress("");
  tell(request.json, fmt::format("{}: {}\n{}; predictions for {}\n\n", probe.name, probe.idea, device.name,
                                 run.time ? "it" : run.machine.name));
  tell(request.json, text_table(report.table) + (report.text.empty() ? "" : "\n" + report.text));
  if (!run.time)
    tell(request.json, "\nnothing was timed: the kernels ran a little, and what they computed was checked\n");

  Json json = provenance(command, ceilings);
  json["probe"] = probe.name;
  json["timed"] = run.time;
  json["predicted_for"] = run.machine.name;
  json["settings"] = report.settings;
  json["results"] = report.results;
  if (!request.json.empty()) write_text(request.json, report_text(json));
  const auto failed = [](const Json& result) { return result["status"] == "fail"; };
  const auto wrong = std::ranges::find_if(report.results, failed);
  if (wrong == report.results.end()) return 0;
  fmt::print(stderr, "error: {} computes something wrong: {}\n", probe.name, wrong->dump());
  return 1;
}

}  // namespace gemm

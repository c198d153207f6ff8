#include "common/commands/trace.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/backend/device.hpp"
#include "common/check/stage_run.hpp"
#include "common/check/workbench.hpp"
#include "common/commands/options.hpp"
#include "common/report/files.hpp"
#include "common/report/provenance.hpp"
#include "common/report/result_json.hpp"
#include "common/report/trace_json.hpp"

namespace gemm {
namespace {

// A tile of C of any stage, and some tiles of k.
void set_sizes_of_a_trace(RunOptions& run, const Stage& stage) {
  if (stage.op != Operation::gemm) return;
  if (!run.m) run.m = 256;
  if (!run.n) run.n = 256;
  if (!run.k) run.k = 64;
}

}  // namespace

void add_trace_options(CLI::App& app, TraceOptions& options) {
  add_problem_options(app, options.run);
  add_kernel_options(app, options.run.spec.kernel);
  add_timeout_option(app, options.run.timeout);
  app.add_option("--block", options.choice.blocks,
                 "which block: a number, or x,y or x,y,z; or all; may be given again (default: the first)");
  app.add_option(
         "--launch", options.choice.launch,
         "which of the stage's launches (default: the one that multiplies on Tensor Cores, else the one with the "
         "most accesses)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--steps", options.choice.requests, "so many accesses of warps for each block, at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}))
      ->capture_default_str();
  app.add_option("--json", options.json, "write the trace to this file (- for standard output)")->capture_default_str();
}

int trace_stage(const Stage& stage, TraceOptions options, const std::string& command) {
  set_sizes_of_a_trace(options.run, stage);
  settle_problem(options.run, stage);
  require_writable(options.json);
  open_device();
  set_stages_apart(options.run.timeout);
  TraceChoice& choice = options.choice;
  choice.all_blocks = std::ranges::find(choice.blocks, "all") != choice.blocks.end();
  Workbench bench(options.run.spec);
  bench.reset_output();
  const Json run = provenance(command, std::nullopt);
  const auto text = look_on_apart(contender(stage), bench.problem(), [&](const std::function<Status()>& launch) {
    const AccessTrace trace = trace_accesses(stage.id, launch, choice);
    Json json = {{"stage", stage.id}, {"idea", stage.idea}, {"problem", to_json(options.run.spec)}};
    json.update(to_json(trace));
    json["run"] = run;
    return json.dump() + "\n";
  });
  write_text(options.json, text);
  return 0;
}

}  // namespace gemm

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/backend/ceilings.hpp"
#include "common/commands/commands.hpp"
#include "common/commands/program.hpp"
#include "common/commands/run.hpp"
#include "common/measure/evaluate.hpp"
#include "common/measure/roofline.hpp"
#include "common/report/count_table.hpp"
#include "common/report/files.hpp"
#include "common/report/provenance.hpp"
#include "common/report/result_json.hpp"
#include "common/report/table.hpp"
#include "common/report/verdict.hpp"

namespace gemm {
namespace {

struct CompareOptions : RunOptions {
  std::string first, second;
};

// Two stages on one problem, each timed alternately with cuBLAS.
int compare_stages(CompareOptions options, const std::string& command) {
  const Stage& a = find_stage(options.first);
  const Stage& b = find_stage(options.second);
  if (a.op != b.op || a.type != b.type) throw UsageError(a.id + " and " + b.id + " don't solve the same problem");
  prepare(options, a);
  require_kernel_options(options.spec, b);
  const auto say = [&](const std::string& text) { tell(options.json, text); };
  const auto ceilings = options.evaluate.time ? measure_ceilings() : std::nullopt;
  const auto results = evaluate({contender(a), contender(b)}, options.spec, options.evaluate, show_progress);
  show_progress("");
  say(fmt::format("{}\n{}", describe(options.spec), table(results, ceilings, colour())));

  const auto row = [&](const char* what, double x, double y) {
    say(fmt::format("  {:<48} {:>12.4g} -> {:<12.4g}\n", what, x, y));
  };
  say(fmt::format("\n{} -> {}\n  {}\n  {}\n", a.id, b.id, a.idea, b.idea));
  if (results[0].counts && results[1].counts) {
    say(count_changes(*results[0].counts, *results[1].counts));
  } else {
    const L1Cycles la = l1_cycles(a, options.spec), lb = l1_cycles(b, options.spec);
    if (a.l1_cycles && b.l1_cycles) {
      row("L1 cycles per warp FMA, global loads as written", la.global, lb.global);
      row("L1 cycles per warp FMA, shared loads as written", la.shared, lb.shared);
      row("most of the FP32 peak this allows, %", 100 * predicted_share_of_peak(a, options.spec),
          100 * predicted_share_of_peak(b, options.spec));
    }
    row("blocks", results[0].blocks(), results[1].blocks());
  }
  if (results[0].timed && results[1].timed) {
    row("GFLOP/s", results[0].gflops(), results[1].gflops());
    say(fmt::format("  {} is {:.2f} times as fast\n", b.id, results[1].gflops() / results[0].gflops()));
  }
  if (!options.json.empty()) {
    Json report = provenance(command, ceilings);
    for (const Result& result : results)
      report["results"].push_back(to_json(result, ceilings, options.evaluate.timing));
    write_text(options.json, report.dump(1) + "\n");
  }
  return exit_status(results, ceilings, options.evaluate.timing);
}

}  // namespace

void add_compare_command(CLI::App& app, const std::string& command, Action& action) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* const self = app.add_subcommand("compare", "two stages side by side");
  self->add_option("a", options->first, "a stage")->required();
  self->add_option("b", options->second, "another")->required();
  add_run_options(*self, *options);
  self->callback(
      [options, command, &action] { action = [options, command] { return compare_stages(*options, command); }; });
}

}  // namespace gemm

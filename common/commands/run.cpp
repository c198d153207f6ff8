#include "common/commands/run.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/backend/ceilings.hpp"
#include "common/backend/device.hpp"
#include "common/check/properties.hpp"
#include "common/check/stage_run.hpp"
#include "common/commands/options.hpp"
#include "common/commands/program.hpp"
#include "common/problem/names.hpp"
#include "common/report/as_compiled.hpp"
#include "common/report/count_table.hpp"
#include "common/report/files.hpp"
#include "common/report/provenance.hpp"
#include "common/report/result_json.hpp"
#include "common/report/table.hpp"
#include "common/report/text_table.hpp"
#include "common/report/told.hpp"
#include "common/report/verdict.hpp"

namespace gemm {
namespace {

constexpr bool on_gpu = GEMM_ON_GPU;

// Sizes that run in about a second on this back end.
void set_default_sizes(RunOptions& options) {
  ProblemSpec& spec = options.spec;
  if (spec.op == Operation::gemm) {
    spec.m = spec.n = on_gpu ? 1024 : 256;
    spec.k = spec.m;
  } else {
    spec.m = spec.n = 16;
    spec.k = on_gpu ? 1 << 20 : 1000;
  }
  spec.m = options.m.value_or(spec.m);
  spec.n = options.n.value_or(spec.n);
  spec.k = options.k.value_or(spec.k);
}

}  // namespace

void add_problem_options(CLI::App& app, RunOptions& options) {
  ProblemSpec& spec = options.spec;
  app.add_option("--m", options.m, "rows of C and A, or of a tall A the columns");
  app.add_option("--n", options.n, "columns of B and C");
  app.add_option("--k", options.k, "rows of B, columns of A, or of a tall A the rows");
  add_type_option(app, options.type);
  app.add_option("--batch", spec.batch, "so many products, their matrices one behind the other (--type s)");
  app.add_flag("--conj", spec.conjugate, "A^H in place of A^T (TSMTTSM, --type z)");
  app.add_option("--lda", spec.lda, "leading dimension of A, in elements (0: the row's length)");
  app.add_option("--ldb", spec.ldb, "leading dimension of B");
  app.add_option("--ldc", spec.ldc, "leading dimension of C");
  app.add_option("--alpha", spec.alpha, "C = alpha A B + beta C")->capture_default_str();
  app.add_option("--beta", spec.beta, "0: C is written, never read")->capture_default_str();
  app.add_option("--alpha-imag", spec.alpha_imag, "imaginary part of alpha (--type z)");
  app.add_option("--beta-imag", spec.beta_imag, "imaginary part of beta");
  app.add_option("--offset", spec.offset, "start A, B and C so many elements past an aligned address");
  app.add_option("--seed", spec.seed, "seed of the data")->capture_default_str();
  app.add_option_function<std::string>(
         "--dist", [&spec](const std::string& name) { spec.distribution = distribution_of(name); },
         "data: uniform positive normal integers wide tiny huge")
      ->default_str("uniform");
}

void add_run_options(CLI::App& app, RunOptions& options) {
  add_problem_options(app, options);
  add_kernel_options(app, options.spec.kernel);
  add_timing_options(app, options.evaluate.timing);
  add_timeout_option(app, options.timeout);
  app.add_flag("--check", options.check_asked,
               "check the result (default: with --time where there is a GPU, else with --count)");
  app.add_flag("--time", options.time_asked, "time it against cuBLAS; without --check the result is not checked");
  app.add_flag("--count", options.count_asked,
               "check it, and count what it does: requests, sectors, wavefronts, FMAs (CPU build)");
  app.add_flag("--lines", options.lines_asked, "count line by line, too");
  app.add_option("--json", options.json, "write one JSON object to this file (- for standard output)");
}

void require_kernel_options(const ProblemSpec& spec, const Stage& stage) {
  if (!spec.kernel.any()) return;
  if (!stage.generated) throw UsageError(stage.id + " does not generate its kernel: it has no options to choose");
  if (const std::string why = foreign_options(spec.op, spec.kernel); !why.empty()) throw UsageError(why);
  if (spec.m == 0 || spec.n == 0) return;
  const auto complete = stage.generated.choose(spec.m, spec.n, spec.type == Type::c64, spec.kernel);
  const std::string why = kernel_refusal(stage, spec.m, spec.n, spec.type == Type::c64, complete);
  if (!why.empty()) throw UsageError(why);
}

void settle_problem(RunOptions& options, const Stage& stage) {
  const std::optional<Type> type = options.type ? options.type : stage.type;
  set_kind(options.spec, stage.op, type);
  if (stage.type && type != stage.type)
    throw UsageError(fmt::format("{} is for {}, not {}", stage.id, type_name(*stage.type), type_name(*type)));
  set_default_sizes(options);
  options.spec.validate();
  require_kernel_options(options.spec, stage);
}

void prepare(RunOptions& options, const Stage& stage) {
  settle_problem(options, stage);
  options.count_asked |= options.lines_asked;
  options.time_asked |= options.evaluate.timing.back_to_back;
  const bool asked = options.check_asked || options.time_asked || options.count_asked;
  options.evaluate.check = options.check_asked || options.count_asked || !asked;
  options.evaluate.time = options.time_asked || (!asked && on_gpu);
  options.evaluate.count = options.count_asked || (!asked && !on_gpu);
  options.evaluate.lines = options.lines_asked;
  options.evaluate.explain = true;
  require_writable(options.json);
  open_device();
  set_stages_apart(options.timeout);
  if (options.evaluate.time && !on_gpu) {
    throw DeviceError("no device to time on: the CPU executor checks, and can't tell a GPU's speed");
  }
  if (options.evaluate.count && on_gpu) {
    throw DeviceError("counts come from the CPU executor (--cpu); on a GPU, Nsight Compute counts (docs/measurements)");
  }
}

// Nothing was said of the problem but perhaps its type.
bool takes_defaults(const RunOptions& options) {
  return !options.m && !options.n && !options.k && options.spec.batch == 1 && options.spec.is_plain();
}

int report_failure(const Result& result, const RunOptions& options, const std::string& command) {
  show_progress("");
  if (!options.json.empty()) {
    Json json = to_json(result, std::nullopt, options.evaluate.timing);
    json["run"] = provenance(command, std::nullopt);
    write_text(options.json, json.dump(options.json == "-" ? -1 : 1) + "\n");
  }
  tell(options.json, wrapped(describe(result.spec)) + table({result}, std::nullopt, colour()));
  tell(options.json, told(result.verdict.reason, result.verdict.explanation));
  return 1;
}

int run_stage(const Stage& stage, RunOptions options, const std::string& command) {
  const bool by_default = takes_defaults(options);
  prepare(options, stage);
  std::string right_too;
  if (by_default && options.evaluate.check) {
    // Most mistakes don't show on a square of whole tiles.
    EvaluateOptions check = options.evaluate;
    check.time = check.count = check.lines = false;
    const Result result = evaluate({contender(stage)}, ragged(stage, options.spec.type), check, show_progress)[0];
    if (result.verdict.outcome == Outcome::fail) return report_failure(result, options, command);
    if (result.verdict.outcome == Outcome::pass) right_too = wrapped("right, too: " + describe(result.spec));
  }
  const auto ceilings = options.evaluate.time ? measure_ceilings() : std::nullopt;
  const auto results = evaluate({contender(stage)}, options.spec, options.evaluate, show_progress);
  show_progress("");
  if (!options.json.empty()) {
    Json json = to_json(results[0], ceilings, options.evaluate.timing);
    json["run"] = provenance(command, ceilings);
    write_text(options.json, json.dump(options.json == "-" ? -1 : 1) + "\n");
  }
  tell(options.json, wrapped(describe(options.spec)) + table(results, ceilings, colour()));
  tell(options.json, told(results[0].verdict.reason, results[0].verdict.explanation) + right_too);
  if (!results[0].verdict.policy.empty()) tell(options.json, wrapped("taken: " + results[0].verdict.policy));
  for (const std::string& warning : results[0].verdict.observation.warnings) tell(options.json, warning + "\n");
  if (results[0].counts) {
    tell(options.json, count_details(results[0]));
    if (options.count_asked) tell(options.json, as_compiled(stage));
    if (options.lines_asked) tell(options.json, line_table(results[0].lines));
  }
  if (!results[0].checked && results[0].verdict.outcome == Outcome::pass)
    tell(options.json, "the result was not checked\n");
  return exit_status(results, ceilings, options.evaluate.timing);
}

}  // namespace gemm

// How far results are from FP64's, over the depth of the product and the kind of numbers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "common/backend/device.hpp"
#include "common/check/contender.hpp"
#include "common/commands/commands.hpp"
#include "common/commands/program.hpp"
#include "common/measure/evaluate.hpp"
#include "common/problem/names.hpp"
#include "common/report/files.hpp"
#include "common/report/provenance.hpp"
#include "common/report/result_json.hpp"
#include "common/report/text_table.hpp"

namespace gemm {
namespace {

constexpr double least_residual = 0x1p-23;  // what FP32 products are allowed in any case

struct AccuracyOptions {
  std::vector<std::string> only;
  std::vector<std::int64_t> depths;
  std::vector<std::string> distributions;
  int size = 0;
  std::string json;
};

// FP32 itself, first (cuBLAS's, else a plain loop), and what claims to be like it.
std::vector<Contender> contenders_of(const AccuracyOptions& options) {
  std::vector<Contender> all = baselines(Type::f32);
  const auto plain = stages_for(Operation::gemm, Type::f32);
  if (all.empty() && !plain.empty()) all.push_back(contender(*plain.front()));
  if (plain.size() > 1) all.push_back(contender(*plain.back()));
  if (options.only.empty()) {
    for (const Stage* stage : stages_for(Operation::gemm, Type::f32, "tensorcore")) {
      all.push_back(contender(*stage));
      for (const Stage& form : variants(*stage)) all.push_back(contender(form));
    }
  }
  for (const std::string& name : options.only) {
    const Stage& stage = find_stage(name);
    if (stage.op != Operation::gemm || stage.type != Type::f32)
      throw UsageError(stage.id + " does not multiply FP32 matrices");
    all.push_back(contender(stage));
  }
  if (all.empty()) throw UsageError("this build has no stage that multiplies FP32 matrices");
  return all;
}

Json row_of(const Result& result, const ProblemSpec& spec, double allowed) {
  Json row = {{"stage", result.id}, {"k", spec.k}, {"distribution", distribution_name(spec.distribution)}};
  if (!result.verdict.compared) {
    row["status"] = "skip";
    row["reason"] = result.verdict.reason;
    return row;
  }
  const Comparison& error = result.verdict.error;
  // NaN and infinity, which JSON hasn't, are as bad as can be.
  const auto number = [](double x) { return std::isfinite(x) ? Json(x) : Json("infinite"); };
  row["status"] = error.residual <= allowed ? "fp32" : "less";
  row["residual"] = number(error.residual);
  row["max_of_magnitudes"] = number(error.max_of_magnitudes);
  row["max_relative"] = number(error.max_relative);
  if (!result.verdict.policy.empty()) row["policy"] = result.verdict.policy;
  return row;
}

int run_accuracy(AccuracyOptions options, const std::string& command) {
  require_writable(options.json);
  const DeviceInfo& device = open_device();
  if (options.size == 0) options.size = device.gpu ? 256 : 32;
  if (options.depths.empty()) {
    const std::int64_t deepest = device.gpu ? 65536 : 4096;
    for (std::int64_t k = 16; k <= deepest; k *= 4) options.depths.push_back(k);
  }
  if (options.distributions.empty())
    options.distributions = device.gpu
                                ? std::vector<std::string>{"uniform", "positive", "normal", "wide", "tiny", "huge"}
                                : std::vector<std::string>{"uniform", "positive"};
  const std::vector<Contender> contenders = contenders_of(options);

  Json report = provenance(command, std::nullopt);
  report["size"] = options.size;
  report["fp32_residual_allowed"] = least_residual;
  report["results"] = Json::array();
  for (const std::string& name : options.distributions) {
    for (const std::int64_t k : options.depths) {
      ProblemSpec spec;
      spec.m = spec.n = options.size;
      spec.k = k;
      spec.distribution = distribution_of(name);
      spec.validate();
      EvaluateOptions evaluate_options;
      evaluate_options.time = evaluate_options.exact = false;
      const auto results = evaluate(contenders, spec, evaluate_options, show_progress);
      show_progress("");
      const double allowed = std::max(least_residual, results[0].verdict.error.residual);
      tell(options.json, fmt::format("\n{} x {} x {}, {}; FP32 if the residual is at most {:.2g}\n", spec.m, spec.n, k,
                                     name, allowed));
      TextTable table(
          {{{"stage"}}, {{"residual"}, true}, {{"max dC/(|A||B|)"}, true}, {{"max relative"}, true}, {{""}, false, 1}});
      for (const Result& result : results) {
        if (result.verdict.device_lost) throw DeviceError(result.id + " crashed the device: " + result.verdict.reason);
        const Json row = row_of(result, spec, allowed);
        report["results"].push_back(row);
        const Comparison& error = result.verdict.error;
        if (row["status"] == "skip") {
          table.add({result.id, "skip: " + result.verdict.reason});
          continue;
        }
        std::string remark = row["status"] == "fp32" ? "" : "less than FP32";
        if (!result.verdict.policy.empty()) remark += (remark.empty() ? "" : "; ") + result.verdict.policy;
        table.add({result.id, fmt::format("{:.2e}", error.residual), fmt::format("{:.2e}", error.max_of_magnitudes),
                   fmt::format("{:.2e}", error.max_relative), remark});
      }
      tell(options.json, table.text());
    }
  }
  if (!options.json.empty()) write_text(options.json, report_text(report));
  return 0;
}

}  // namespace

void add_accuracy_command(CLI::App& app, const std::string& command, Action& action) {
  static AccuracyOptions options;
  CLI::App* accuracy = app.add_subcommand("accuracy", "FP32 products beside FP64, over depths and kinds of numbers");
  accuracy->add_option("--only", options.only, "these stages or variants, separated by commas, beside FP32's")
      ->delimiter(',')
      ->allow_extra_args(false);
  accuracy->add_option("--k", options.depths, "depths, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  accuracy->add_option("--dist", options.distributions, "kinds of numbers, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  accuracy->add_option("--size", options.size, "M and N; default: 256, on the CPU 32")->check(CLI::Range(1, 16384));
  accuracy->add_option("--json", options.json, "write the report to this file; - is standard output");
  accuracy->callback([&action, command] { action = [command] { return run_accuracy(options, command); }; });
}

}  // namespace gemm

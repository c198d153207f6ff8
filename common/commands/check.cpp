#include "common/commands/check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "common/backend/device.hpp"
#include "common/check/far_offsets.hpp"
#include "common/check/infinity.hpp"
#include "common/check/properties.hpp"
#include "common/check/stage_run.hpp"
#include "common/commands/options.hpp"
#include "common/commands/program.hpp"
#include "common/measure/declared.hpp"
#include "common/measure/evaluate.hpp"
#include "common/report/files.hpp"
#include "common/report/json.hpp"
#include "common/report/provenance.hpp"
#include "common/report/told.hpp"

namespace gemm {
namespace {

struct Failure {
  std::string problem;  ///< on which; may be empty
  std::string reason;
  std::vector<std::string> explanation;
  bool ended = false;  ///< the stage's process: it would end, or have to be stopped, again and again
};

struct Finding {
  std::string name, says;
  int problems = 0;  ///< that were run, without those that the stage refuses
  double seconds = 0;
  std::optional<Failure> failure = {};
};

// Goes through the trials up to the first that fails, which takes a while to explain.
std::optional<Failure> try_all(const Property& property, bool explain, int& problems) {
  EvaluateOptions options;
  options.time = false;
  options.explain = explain;
  for (const Trial& trial : property.trials) {
    const Result result = evaluate({contender(*trial.form)}, trial.spec, options, {})[0];
    if (result.verdict.outcome == Outcome::skip) continue;
    ++problems;
    if (result.verdict.outcome == Outcome::pass) continue;
    std::string problem = describe(trial.spec);
    if (trial.form->number.find(':') != std::string::npos) problem = trial.form->id + ", " + problem;
    return Failure{problem, result.verdict.reason, result.verdict.explanation, result.verdict.ended};
  }
  return std::nullopt;
}

// One that is a function of the stage: what is wrong, empty if nothing is.
std::optional<Failure> as_failure(const std::string& wrong) {
  return wrong.empty() ? std::nullopt : std::optional(Failure{"", wrong, {}});
}

class Checker {
 public:
  Checker(const Stage& stage, const CheckOptions& options) : stage_(stage), options_(options) {}

  std::vector<Finding> run() {
    look(representative(stage_));
    if (has_ended()) return findings_;
    if (has_infinity(stage_)) {
      look("infinity", "infinity and NaN come out as FP32 arithmetic has them", [&](int& problems) {
        problems = 1;
        return as_failure(wrong_infinity(stage_));
      });
    }
    if (options_.quick) return findings_;
    for (const Property& property : properties(stage_)) {
      look(property);
      if (has_ended()) return findings_;
    }
    if (stage_.l1_cycles && !open_device().gpu) {
      look("declared counts", "its l1_cycles are what is counted", [&](int& problems) {
        for (const int size : {256, 255}) {
          ++problems;
          if (auto failure = as_failure(declared_wrongly(stage_, box(size, size, size)))) {
            failure->problem = describe(box(size, size, size));
            return failure;
          }
        }
        return std::optional<Failure>();
      });
    }
    look("far offsets", "offsets of more than 2^31 elements are right", [&](int& problems) {
      const std::optional<std::string> wrong = wrong_far_offset(stage_);
      problems = wrong.has_value() ? 3 : 0;
      return as_failure(wrong.value_or(""));
    });
    return findings_;
  }

 private:
  void look(const Property& property) {
    const bool first =
        std::ranges::none_of(findings_, [](const Finding& finding) { return finding.failure.has_value(); });
    look(property.name, property.says, [&](int& problems) { return try_all(property, first, problems); });
  }

  void look(const std::string& name, const std::string& says,
            const std::function<std::optional<Failure>(int&)>& attempt) {
    show_progress(fmt::format("checking {}: {}", stage_.id, name));
    Finding finding{name, says};
    const auto begin = std::chrono::steady_clock::now();
    finding.failure = attempt(finding.problems);
    finding.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    show_progress("");
    if (finding.problems > 0) findings_.push_back(finding);
  }

  bool has_ended() const {
    return std::ranges::any_of(findings_, [](const Finding& f) { return f.failure && f.failure->ended; });
  }

  const Stage& stage_;
  CheckOptions options_;
  std::vector<Finding> findings_;
};

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
  if (!first) return text;
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
  add_timeout_option(app, options.timeout);
  app.add_option("--json", options.json, "write one JSON object to this file (- for standard output)");
}

int check_stage(const Stage& stage, const CheckOptions& options, const std::string& command) {
  require_writable(options.json);
  open_device();
  set_stages_apart(options.timeout);
  const std::vector<Finding> findings = Checker(stage, options).run();
  int failures = 0, problems = 0;
  double seconds = 0;
  Json list = Json::array();
  for (const Finding& finding : findings) {
    failures += finding.failure.has_value();
    problems += finding.problems;
    seconds += finding.seconds;
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

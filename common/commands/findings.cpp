#include "common/commands/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "common/backend/device.hpp"
#include "common/backend/shared_numbers.hpp"
#include "common/backend/shares.hpp"
#include "common/check/far_offsets.hpp"
#include "common/check/infinity.hpp"
#include "common/check/properties.hpp"
#include "common/check/wasted_pass.hpp"
#include "common/commands/program.hpp"
#include "common/measure/declared.hpp"
#include "common/measure/evaluate.hpp"
#include "common/report/json.hpp"

namespace gemm {
namespace {

// What came of one trial.
struct Attempt {
  int problems = 0;  // 0: the stage refuses it
  double seconds = 0;
  std::optional<Failure> failure = {};
  bool can_be_explained = false;
  std::string warning = {};  // the first, of one that is right
};

// One trial of one property. `explain`: in case that it fails, which takes a while.
struct Step {
  std::size_t property = 0;
  std::function<Attempt(bool explain)> attempt;
  const Trial* trial = nullptr;  // unless it is a function of the stage
};

// `thorough`: on random numbers and on whole ones. Else on one kind, which halves the time: on whole numbers, which must
// come out exactly; only where FP32 numbers are emulated by parts on random ones, because whole numbers have no low parts.
Attempt attempt(const Trial& trial, bool thorough, bool explain) {
  EvaluateOptions options;
  options.time = false;
  options.explain = explain;
  options.exact = thorough;
  ProblemSpec spec = trial.spec;
  if (!thorough && spec.distribution == Distribution::uniform && trial.form->emulation.fp16_products == 0)
    spec.distribution = Distribution::integers;
  const Verdict verdict = evaluate({contender(*trial.form)}, spec, options, {})[0].verdict;
  if (verdict.outcome == Outcome::skip) return {};
  if (verdict.outcome == Outcome::pass) {
    const std::vector<std::string>& warnings = verdict.observation.warnings;
    return {.problems = 1, .warning = warnings.empty() ? "" : warnings.front()};
  }
  std::string problem = describe(spec);
  if (trial.form->number.find(':') != std::string::npos) problem = trial.form->id + ", " + problem;
  return {.problems = 1,
          .failure = Failure{problem, verdict.reason, verdict.explanation, verdict.ended},
          .can_be_explained = !verdict.ended && !verdict.device_lost};
}

// A function's answer: what is wrong, empty if nothing is.
Attempt attempt(int problems, const std::string& problem, const std::string& wrong) {
  if (wrong.empty()) return {.problems = problems};
  return {.problems = problems, .failure = Failure{problem, wrong, {}}};
}

std::string to_text(const Attempt& attempt) {
  Json json = {{"problems", attempt.problems},
               {"seconds", attempt.seconds},
               {"explain", attempt.can_be_explained},
               {"warning", attempt.warning}};
  if (attempt.failure) {
    const Failure& failure = *attempt.failure;
    json["failure"] = {failure.problem, failure.reason, failure.ended};
  }
  return json.dump();
}

Attempt from_text(const std::string& text) {
  const Json json = Json::parse(text);
  Attempt attempt{json["problems"], json["seconds"], {}, json["explain"], json["warning"]};
  if (const auto at = json.find("failure"); at != json.end())
    attempt.failure = Failure{(*at)[0], (*at)[1], {}, (*at)[2]};
  return attempt;
}

class Inquiry {
 public:
  Inquiry(const Stage& stage, bool quick) : stage_(stage) {
    const bool gpu = open_device().gpu;
    add(representative(stage), true);
    if (has_infinity(stage)) {
      add("infinity", "infinity and NaN come out as FP32 arithmetic has them",
          [&stage] { return attempt(1, "", wrong_infinity(stage)); });
    }
    if (quick) return;
    for (Property& property : properties(stage)) add(std::move(property), gpu);
    if (stage.l1_cycles && !gpu) {
      begin("declared counts", "its l1_cycles are what is counted");
      for (const int size : {256, 255}) {
        add([&stage, spec = box(size, size, size)] {
          return attempt(1, describe(spec), declared_wrongly(stage, spec));
        });
      }
    }
    add("no wasted pass", "its loop over k makes no pass too many", [&stage] {
      const std::optional<std::string> wrong = wasted_pass(stage);
      return attempt(wrong ? 1 : 0, "", wrong.value_or(""));
    });
    if (stage.emulation.policy) {
      ProblemSpec spec = box(128, 256, 64);
      spec.distribution = Distribution::tiny;
      add("declared choice", "numbers of one size take the products that it declares",
          [&stage, spec] { return attempt(1, describe(spec), chosen_wrongly(stage, spec)); });
    }
    if (stage.batch) {
      add("batch strides", "right where the matrices of a batch lie apart", [&stage] {
        const std::optional<std::string> wrong = wrong_batch_stride(stage);
        return attempt(wrong ? 1 : 0, "", wrong.value_or(""));
      });
    }
    add("far offsets", "offsets of more than 2^31 elements are right", [&stage] {
      const std::optional<std::string> wrong = wrong_far_offset(stage);
      return attempt(wrong ? 3 : 0, "", wrong.value_or(""));
    });
  }
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;

  std::vector<Finding> run(int processes) {
    const std::vector<std::size_t> order = order_of_trials();
    const SharedNumbers failed(findings_.size() + 1);
    const std::vector<std::string> texts =
        share_out(steps_.size(), processes, [&](std::size_t i) { return try_for_all(order[i], failed); });
    std::vector<std::string> by_step(steps_.size());
    for (std::size_t i = 0; i < texts.size(); ++i) by_step[order[i]] = texts[i];
    return judge(by_step);
  }

 private:
  void begin(const std::string& name, const std::string& says) { findings_.push_back({name, says}); }
  void add(std::function<Attempt()> function) {
    steps_.push_back({findings_.size() - 1, [function = std::move(function)](bool) { return function(); }});
  }
  void add(const std::string& name, const std::string& says, std::function<Attempt()> function) {
    begin(name, says);
    add(std::move(function));
  }
  void add(Property property, bool thorough) {
    begin(property.name, property.says);
    for (const Trial& trial : trials_.emplace_back(std::move(property.trials)))
      steps_.push_back({findings_.size() - 1,
                        [&trial, thorough](bool explain) { return attempt(trial, thorough, explain); }, &trial});
  }

  // Kernels that are compiled for a problem take longer than all else: so that each process compiles others, the first
  // trials of them come before all that need the same ones again.
  std::vector<std::size_t> order_of_trials() const {
    std::vector<std::size_t> order(steps_.size());
    std::iota(order.begin(), order.end(), 0);
    if (!stage_.generated) return order;
    const auto kernel_of = [](const Trial& trial) {
      const ProblemSpec& spec = trial.spec;
      return std::tuple(trial.form, spec.type, spec.conjugate, spec.m, spec.n, spec.lda, spec.ldb, spec.offset,
                        spec.kernel);
    };
    std::set<decltype(kernel_of(*steps_[0].trial))> known;
    std::ranges::stable_partition(order, [&](std::size_t i) {
      const Trial* const trial = steps_[i].trial;
      return !trial || (trial->spec.k > 0 && known.insert(kernel_of(*trial)).second);
    });
    return order;
  }

  Attempt try_here(std::size_t index, bool explain) const {
    const Step& step = steps_[index];
    show_progress(fmt::format("checking {}: {}", stage_.id, findings_[step.property].name));
    const auto begin = std::chrono::steady_clock::now();
    Attempt attempt = step.attempt(explain);
    attempt.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    show_progress("");
    return attempt;
  }

  // Empty if nobody asks for it any more: behind a failure of the same property, or where nothing else is to be tried.
  // `failed`: of each property the first step that failed, counted from behind so that 0 is none; at last that of the
  // first property whose trial ended the stage's process.
  std::string try_for_all(std::size_t index, const SharedNumbers& failed) const {
    const auto from_behind = [](std::size_t i, std::size_t count) { return static_cast<int>(count - i); };
    const auto first = [](std::atomic<int>& first, int mine) {
      for (int now = first; now < mine && !first.compare_exchange_weak(now, mine);) {
      }
    };
    const std::size_t property = steps_[index].property, all = findings_.size();
    const int mine = from_behind(index, steps_.size()), my_property = from_behind(property, all);
    if (failed[property] > mine || failed[all] > my_property) return "";
    const Attempt attempt = try_here(index, false);
    if (attempt.failure) first(failed[property], mine);
    if (attempt.failure && attempt.failure->ended) first(failed[all], my_property);
    return to_text(attempt);
  }

  // Goes through all trials in their order, up to the first of each property that fails.
  std::vector<Finding> judge(const std::vector<std::string>& texts) {
    std::vector<Finding> found;
    bool all_right = true;
    for (std::size_t i = 0; i < steps_.size();) {
      const std::size_t property = steps_[i].property;
      Finding finding = findings_[property];
      for (; i < steps_.size() && steps_[i].property == property; ++i) {
        if (finding.failure) continue;
        const Attempt attempt = texts[i].empty() ? try_here(i, false) : from_text(texts[i]);
        finding.problems += attempt.problems;
        finding.seconds += attempt.seconds;
        finding.failure = attempt.failure;
        if (finding.warning.empty()) finding.warning = attempt.warning;
        if (!attempt.failure || !all_right) continue;
        all_right = false;
        if (!attempt.can_be_explained) continue;
        // The others mostly come from the same mistake.
        const Attempt again = try_here(i, true);
        finding.seconds += again.seconds;
        if (again.failure) finding.failure = again.failure;
      }
      if (finding.problems > 0) found.push_back(finding);
      if (finding.failure && finding.failure->ended) break;
    }
    return found;
  }

  const Stage& stage_;
  std::vector<Finding> findings_;           // of each property, still empty
  std::vector<std::vector<Trial>> trials_;  // which the steps point to
  std::vector<Step> steps_;                 // in the order of the properties
};

}  // namespace

std::vector<Finding> find_out(const Stage& stage, bool quick, int processes) {
  return Inquiry(stage, quick).run(processes);
}

}  // namespace gemm

#include "common/measure/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "common/backend/device.hpp"
#include "common/check/explain.hpp"
#include "common/check/properties.hpp"
#include "common/measure/reference_gpu.hpp"
#include "common/problem/names.hpp"
#include "common/toolchain/jit.hpp"

namespace gemm {
namespace {

// A device too old for the stage: nothing to launch.
std::optional<std::string> too_old(const Contender& contender) {
  const DeviceInfo& device = open_device();
  if (!contender.stage || !device.gpu || device.compute_capability >= contender.stage->min_compute_capability)
    return {};
  return fmt::format("needs sm_{}, this is sm_{}", contender.stage->min_compute_capability, device.compute_capability);
}

// A batch for a stage that has one product at a time, or numbers that its operands can't hold.
std::optional<std::string> unfit(const Contender& contender, const ProblemSpec& spec) {
  if (contender.stage && !contender.stage->batch && spec.batch != 1) return "calculates one product at a time";
  const bool beyond_fp16 = spec.distribution == Distribution::tiny || spec.distribution == Distribution::huge;
  if (!contender.stage || !contender.stage->emulation.fp16_range || !beyond_fp16 || !spec.reads_operands()) return {};
  return "operands become FP16 numbers as they are, and these are beyond FP16's range";
}

// Of a result that is wrong on purpose: it was launched, and ended.
void ignore_comparison(Verdict& verdict) {
  verdict.outcome = Outcome::pass;
  verdict.reason.clear();
  verdict.compared = false;
}

// Whether two threads race for an element of the result.
bool shares_an_element(const ProblemSpec& spec, const std::string& reason) {
  return reason.starts_with("data race in global memory") &&
         reason.find(fmt::format(", {}(", result_name(spec.op))) != std::string::npos;
}

// What was broken off has no result to explain; but that of whole tiles may say what is wrong.
std::vector<std::string> explain_failure(const ProblemSpec& spec, const Contender& contender, const Verdict& verdict) {
  if (shares_an_element(spec, verdict.reason)) {
    return {
        fmt::format("Two threads work on this element of {}: it must be one thread's alone, or all add to it by "
                    "atomic operations.",
                    result_name(spec.op))};
  }
  std::vector<std::string> sentences = explain(spec, contender, verdict.compared ? &verdict.error : nullptr);
  if (!verdict.observation.warnings.empty()) sentences.push_back(verdict.observation.warnings.front());
  if (!sentences.empty() || verdict.compared || spec.op != Operation::gemm) return sentences;
  // The smaller one is a cube: a matrix with rows and columns exchanged stays inside.
  for (const int size : {256, 64}) {
    ProblemSpec whole = scaled(box(size, size, 64), spec.alpha, spec.beta);
    whole.type = spec.type;
    sentences = explain(whole, contender);
    if (sentences.empty()) continue;
    sentences.front() = fmt::format("On whole tiles, {0} x {0} x 64: {1}", size, sentences.front());
    break;
  }
  return sentences;
}

// Returns false once a kernel has faulted: nothing can run on the device after that.
bool check_all(const std::vector<Contender>& contenders, Workbench& bench, std::vector<Result>& results,
               const char* what, bool explains, bool counts, const Progress& progress) {
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    Result& result = results[i];
    if (result.verdict.outcome != Outcome::pass) continue;
    if (progress) progress(fmt::format("checking {} on {}", contenders[i].id, what));
    const auto begin = std::chrono::steady_clock::now();
    Verdict verdict = bench.check(contenders[i], {.counts = counts});
    result.check_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.launch_seconds = verdict.launch_seconds;
    result.checked = !result.incorrect_on_purpose();
    if (!result.checked && verdict.compared) ignore_comparison(verdict);
    // Errors of the random data are the ones to report; whole numbers have none unless they fail.
    const bool keep_numbers = verdict.outcome == Outcome::pass && bench.spec().distribution == Distribution::integers &&
                              result.spec.distribution != Distribution::integers;
    if (keep_numbers) continue;
    result.verdict = verdict;
    if (verdict.outcome == Outcome::fail) {
      if (explains && !verdict.device_lost && !verdict.ended) {
        if (!verdict.observation.defects.empty()) {
          const Verdict again = bench.check(contenders[i], {.in_order = true, .counts = counts});
          if (again.outcome == Outcome::fail) result.verdict = again;
        }
        result.verdict.explanation = explain_failure(bench.spec(), contenders[i], result.verdict);
      }
      result.verdict.reason += fmt::format(" [{}]", what);
    }
    if (!verdict.device_lost) continue;
    for (Result& other : results) {
      const bool undecided = &other != &result && other.verdict.outcome == Outcome::pass;
      if (!undecided) continue;
      other.verdict =
          verdict_without_result(Outcome::skip, "not run: " + contenders[i].id + " crashed the device", true);
    }
    return false;
  }
  return true;
}

// What would take too long to time.
void keep_to_budget(std::vector<Result>& results, const EvaluateOptions& options) {
  if (!options.time || options.budget_ms <= 0) return;
  for (Result& result : results) {
    if (result.verdict.outcome != Outcome::pass || result.launch_seconds * 1e3 <= options.budget_ms) continue;
    result.verdict = verdict_without_result(
        Outcome::skip, fmt::format("takes {:.2g} s, the budget is {:g} ms", result.launch_seconds, options.budget_ms));
  }
}

TimedResult time_one(const Contender& contender, Workbench& bench, Verdict& verdict, bool check,
                     const EvaluateOptions& options) {
  const Problem problem = bench.problem();
  const auto work = [&](const Contender& c) -> Work { return [&c, problem] { return c.launch(problem, nullptr); }; };
  std::vector<Work> turns = {work(contender)};
  const std::vector<Contender>& libraries = baselines(bench.spec().type);
  const bool has_yardstick = options.yardstick && !libraries.empty() && libraries.front().id != contender.id;
  if (has_yardstick) turns.push_back(work(libraries.front()));

  bench.reset_output();
  TimingRun run = time_in_turns(turns, options.timing, [&] { bench.reset_output(); });
  TimingRun behind;
  if (options.timing.back_to_back) behind = time_back_to_back(turns.front(), options.timing);
  if (check) {
    // With beta = 0 the last sample's own result lies there. Otherwise each launch has added to the one before, so
    // launch once more on the original C.
    const auto launches = std::move(verdict.launches);
    verdict = bench.spec().reads_result() ? bench.check(contender) : bench.inspect(contender);
    verdict.launches = launches;
    if (verdict.outcome == Outcome::fail) verdict.reason += " [after timing]";
  }
  TimedResult timed{std::move(run.samples[0]), {}, run.state, {}, {}};
  if (has_yardstick) timed.yardstick = std::move(run.samples[1]);
  if (options.timing.back_to_back) {
    timed.back_to_back = std::move(behind.samples[0]);
    timed.back_to_back_state = behind.state;
  }
  return timed;
}

}  // namespace

double Result::gflops() const {
  return timed ? spec.flops() / (timed->own.median() * 1e6) : 0.0;
}
double Result::back_to_back_gflops() const {
  return timed && timed->back_to_back ? spec.flops() / (timed->back_to_back->median() * 1e6) : 0.0;
}
double Result::gbytes_s() const {
  return timed ? spec.compulsory_bytes() / (timed->own.median() * 1e6) : 0.0;
}

std::optional<double> Result::percent_of_yardstick() const {
  if (!timed || !timed->yardstick) return std::nullopt;
  return 100.0 * timed->yardstick->median() / timed->own.median();
}

std::optional<double> Result::percent_of_roofline(const std::optional<Ceilings>& ceilings, bool tensor_cores) const {
  if (told_percent_of_roofline && !tensor_cores) return told_percent_of_roofline;
  if (!timed || !ceilings || accuracy == Accuracy::tf32 || incorrect_on_purpose()) return std::nullopt;
  return 100.0 * problem_floor(spec, *ceilings, tensor_cores, stage ? stage->emulation.fp16_products : 0).ms /
         timed->own.median();
}

unsigned Result::blocks() const {
  unsigned most = 0;
  for (const LaunchRecord& launch : verdict.launches) {
    most = std::max(most, launch.shape.grid.x * launch.shape.grid.y * launch.shape.grid.z);
  }
  return most;
}

std::vector<Result> all_skipped(const std::vector<Contender>& contenders, const ProblemSpec& spec,
                                const std::string& reason) {
  std::vector<Result> results(contenders.size());
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    results[i].id = contenders[i].id;
    results[i].stage = contenders[i].stage;
    if (contenders[i].stage) results[i].base = contenders[i].stage->base;
    results[i].accuracy = contenders[i].accuracy;
    results[i].spec = spec;
    results[i].spec.kernel = contenders[i].kernel.value_or(spec.kernel);
    results[i].verdict = verdict_without_result(Outcome::skip, reason);
  }
  return results;
}

std::vector<Result> evaluate(const std::vector<Contender>& contenders, const ProblemSpec& spec,
                             const EvaluateOptions& options, const Progress& progress) {
  spec.validate();
  open_device();
  std::vector<Result> results = all_skipped(contenders, spec, "");
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    results[i].verdict = {};
    if (const auto reason = too_old(contenders[i])) results[i].verdict = verdict_without_result(Outcome::skip, *reason);
    if (const auto reason = unfit(contenders[i], spec))
      results[i].verdict = verdict_without_result(Outcome::skip, *reason);
    const bool limited = options.time && options.budget_ms > 0 && options.estimate_ms;
    if (const double ms = limited ? options.estimate_ms(contenders[i]) : 0; limited && ms > options.budget_ms) {
      results[i].verdict = verdict_without_result(
          Outcome::skip, fmt::format("would take about {:.2g} s, the budget is {:g} ms", ms * 1e-3, options.budget_ms));
    }
  }

  // What takes a second to compile is not slow to launch. (If it can't be compiled, the launch says why.) Where no time counts, the
  // launch compiles by itself, and no kernel for rows without padding that has none.
  for (const Contender& contender : contenders) {
    if (!options.time || !contender.stage || !contender.stage->generated || spec.m == 0 || spec.n == 0) continue;
    const GeneratedKernels& generated = contender.stage->generated;
    const bool is_complex = spec.type == Type::c64;
    const KernelOptions used = generated.choose(spec.m, spec.n, is_complex, contender.kernel.value_or(spec.kernel));
    if (!kernel_refusal(*contender.stage, spec.m, spec.n, is_complex, used).empty()) continue;
    if (progress) progress("compiling " + contender.id);
    generated.find(generated.request(spec.m, spec.n, is_complex, spec.conjugate, used));
  }

  const auto to_run = [](const Result& result) { return result.verdict.outcome == Outcome::pass; };
  if (std::ranges::none_of(results, to_run)) return results;
  if (progress) progress("preparing data and reference");
  const bool exact_too =
      options.exact && spec.distribution != Distribution::integers && spec.terms() <= max_exact_depth(spec.type);
  if (options.check && exact_too) {
    // In its own scope: two problems at once may not fit.
    Workbench bench(with_exact_integers(spec));
    if (!check_all(contenders, bench, results, "whole numbers", options.explain, false, progress)) return results;
    keep_to_budget(results, options);
  }
  Workbench bench(spec);
  const char* const what = spec.distribution == Distribution::integers ? "whole numbers" : "random data";
  if (options.check && !check_all(contenders, bench, results, what, options.explain, options.count, progress))
    return results;
  keep_to_budget(results, options);

  if (options.count) {
    if (progress) progress("counting");
    for (Result& result : results) {
      if (result.verdict.outcome != Outcome::pass) continue;
      result.counts = counts_of(result.verdict.observation);
      if (result.counts) {
        result.counts->assumed_fmas = static_cast<std::uint64_t>(spec.flops() / 2);
        result.counts->is_double = spec.type == Type::f64 || spec.type == Type::c64;
        if (result.stage) {
          result.code = recorded_code(*result.stage, spec);
          result.predicted = predicted_on_reference(*result.stage, spec, *result.counts);
        }
      }
      if (options.lines) result.lines = line_counts_of(result.verdict.observation);
    }
  }
  if (options.time) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      if (results[i].verdict.outcome != Outcome::pass) continue;
      if (progress) progress("timing " + contenders[i].id);
      const bool check = options.check && !results[i].incorrect_on_purpose();
      auto timed = time_one(contenders[i], bench, results[i].verdict, check, options);
      // A failed check prints no speed.
      if (results[i].verdict.outcome == Outcome::pass) results[i].timed = std::move(timed);
    }
  }
  return results;
}

}  // namespace gemm

#include "common/commands/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "common/backend/ceilings.hpp"
#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/check/stage_run.hpp"
#include "common/commands/ladder_programs.hpp"
#include "common/commands/options.hpp"
#include "common/commands/program.hpp"
#include "common/measure/evaluate.hpp"
#include "common/measure/roofline.hpp"
#include "common/problem/names.hpp"
#include "common/problem/shapes.hpp"
#include "common/report/count_table.hpp"
#include "common/report/files.hpp"
#include "common/report/provenance.hpp"
#include "common/report/result_json.hpp"
#include "common/report/table.hpp"
#include "common/report/verdict.hpp"

namespace gemm {
namespace {

// What a newcomer should see: on a GPU sizes that tell the rungs apart, on the CPU one that fits and one that does not.
std::vector<std::string> usual_shapes(Operation op, std::optional<Type> type) {
  const bool gpu = open_device().gpu;
  if (op == Operation::gemm && type == Type::f16)
    return gpu ? std::vector<std::string>{"1024", "4096", "8192"} : std::vector<std::string>{"256", "131x257x67"};
  if (op == Operation::gemm)
    return gpu ? std::vector<std::string>{"1024", "2048", "4096"} : std::vector<std::string>{"256", "131x257x67"};
  if (!gpu) return {"16x16x1000", "7x13x333"};
  std::vector<std::string> shapes;
  const std::int64_t words = type == Type::c64 ? 1 << 28 : 1 << 29;  // of A: 4 GiB
  for (const int width : {1, 4, 16, 32, 64}) shapes.push_back(fmt::format("{0}x{0}x{1}", width, words / width));
  return shapes;
}

std::vector<ProblemSpec> ladder_problems(const LadderOptions& options) {
  std::vector<std::string> shapes = options.shapes;
  if (options.standard) shapes = standard_shapes();
  if (options.sweep) shapes = sweep_shapes(options.sweep);
  if (options.random) shapes = random_shapes(*options.random);
  const bool must_time = options.time || options.timing.back_to_back;
  if (options.no_time && must_time) throw UsageError("--back-to-back times, and --no-time does not");
  if (!open_device().gpu && (must_time || options.many_shapes())) {
    throw DeviceError(must_time ? "no device to time on: the CPU executor checks, and can't tell a GPU's speed"
                                : "no GPU: these shapes would take the CPU executor days; name smaller ones");
  }
  const Operation op = options.op.value_or(Operation::gemm);
  if (op != Operation::gemm && options.many_shapes())
    throw UsageError("the lists of shapes are not for tall & skinny products");
  const bool usual = shapes.empty();
  if (usual) shapes = usual_shapes(op, options.type);
  std::vector<ProblemSpec> problems;
  for (const std::string& shape : shapes) problems.push_back(parse_shape(shape));
  for (ProblemSpec& problem : problems) {
    set_kind(problem, op, options.type);
    problem.kernel = options.kernel;
    problem.batch = options.batch;
  }
  if (usual && !open_device().gpu) {
    ProblemSpec& awkward = problems.back();
    awkward.lda = awkward.row_a() + 4;
    awkward.ldb = awkward.n + 3;
    awkward.ldc = awkward.n + 2;
    awkward.offset = 1;
    awkward.alpha = 1.5;
    awkward.beta = -0.5;
  }
  return problems;
}

// About how long a launch will take: what the best speed that the contender has shown in this run, on a problem not
// much smaller, makes of this one; else its prediction, as if no SM stood idle.
class Estimate {
 public:
  explicit Estimate(const std::optional<Ceilings>& ceilings) : ceilings_(ceilings) {}

  void learn(const Result& result) {
    if (result.timed) seen_[result.id].push_back({result.spec.flops(), result.gflops()});
  }

  double ms(const Contender& contender, const ProblemSpec& spec) const {
    constexpr double not_much_smaller = 8;
    double best = 0;
    if (const auto found = seen_.find(contender.id); found != seen_.end()) {
      for (const auto& [flops, gflops] : found->second) {
        if (flops * not_much_smaller >= spec.flops()) best = std::max(best, gflops);
      }
    }
    if (best > 0) return spec.flops() / (best * 1e6);
    if (!ceilings_ || !contender.stage) return 0;
    const auto sms = static_cast<unsigned>(open_device().sm_count);
    return stage_prediction(*contender.stage, spec, *ceilings_, sms, open_device().sm_count).ms;
  }

 private:
  struct Seen {
    double flops, gflops;
  };
  const std::optional<Ceilings>& ceilings_;
  std::map<std::string, std::vector<Seen>> seen_;
};

// Stages for one product, and in a ladder of its own the libraries. Settles operation and type.
std::vector<Contender> ladder_contenders(LadderOptions& options) {
  // A part: this program's own stage is the last; before it are those that it chooses from.
  const auto is_own = [&](const Stage& stage) {
    return !options.part || stage.id.substr(0, stage.id.find(':')) == stages().back().id;
  };
  std::vector<const Stage*> named;
  for (const std::string& name : options.only) {
    try {
      if (const Stage& stage = find_stage(name); is_own(stage)) named.push_back(&stage);
    } catch (const UsageError&) {
      if (!options.part) throw;  // else another program's
    }
  }
  if (!named.empty() && !options.op) options.op = named.front()->op;
  if (!named.empty() && !options.type) options.type = named.front()->type;
  const Operation op = options.op.value_or(Operation::gemm);
  const Type type = options.type.value_or(op == Operation::gemm ? Type::f32 : Type::f64);
  std::vector<Contender> contenders;
  const auto enter = [&](const Stage& stage) {
    if (stage.op == op && stage.type && stage.type != type)
      throw UsageError(fmt::format("{} is for {}: one type at a time", stage.id, type_name(*stage.type)));
    if (stage.op != op) throw UsageError(stage.id + " is no " + operation_name(op) + ": one operation at a time");
    contenders.push_back(contender(stage));
    if (!options.variants) return;
    for (const Stage& form : variants(stage)) contenders.push_back(contender(form));
  };
  if (options.only.empty()) {
    for (const Stage* stage : stages_for(op, type, options.family)) {
      if (is_own(*stage)) enter(*stage);
    }
    if (contenders.empty() && !options.part) {
      const std::string where = options.family.empty() ? "" : " among those of " + options.family;
      throw UsageError(fmt::format("no stage for {} in {}{}", operation_name(op), type_name(type), where));
    }
  }
  for (const Stage* stage : named) enter(*stage);
  const auto takes_options = [](const Contender& c) { return static_cast<bool>(c.stage->generated); };
  const bool takes = options.only.empty() ? std::ranges::any_of(contenders, takes_options)
                                          : std::ranges::all_of(contenders, takes_options);
  if (options.kernel.any() && !takes && !contenders.empty())
    throw UsageError("options of kernels are for stages that generate them");
  if (const std::string why = foreign_options(op, options.kernel); !why.empty()) throw UsageError(why);
  if (!options.part && (options.only.empty() || options.with_libraries)) {
    const std::vector<Contender>& libraries = baselines(type);
    contenders.insert(contenders.end(), libraries.begin(), libraries.end());
  }
  return contenders;
}

}  // namespace

int ladder(LadderOptions options, const std::string& command) {
  require_writable(options.json);
  const auto say = [&](const std::string& text) {
    if (!options.part) tell(options.json, text);
  };
  const DeviceInfo& device = open_device();
  set_stages_apart(options.timeout);
  const bool of_programs = options.run_programs != nullptr;
  const ProgramResults others = of_programs ? options.run_programs(options) : ProgramResults{};
  std::vector<Contender> contenders;
  if (!of_programs) {
    contenders = ladder_contenders(options);
  } else if (!others.problems.empty() && (options.only.empty() || options.with_libraries)) {
    contenders = baselines(others.problems.front().type);
  }
  const Operation op = options.op.value_or(Operation::gemm);
  const auto problems = of_programs ? others.problems : ladder_problems(options);

  EvaluateOptions evaluate_options;
  evaluate_options.time = device.gpu && !options.no_time;
  evaluate_options.count = !device.gpu;
  evaluate_options.timing = options.timing;
  // Lists of shapes, and tall matrices, have some that the slow stages would need minutes for.
  constexpr double budget_for_many = 300;
  evaluate_options.budget_ms =
      options.budget_ms.value_or(options.many_shapes() || op != Operation::gemm ? budget_for_many : 0);
  for (const ProblemSpec& problem : problems) problem.validate();

  say(fmt::format("{}{}\n", device.name,
                  device.gpu ? fmt::format(", sm_{}, driver {}, CUDA {}, cuBLAS {}", device.compute_capability,
                                           device.driver, device.cuda, device.cublas)
                             : ""));
  std::optional<Ceilings> ceilings;
  if (evaluate_options.time) {
    show_progress("measuring the ceilings");
    ceilings = measure_ceilings();
    show_progress("");
    say(
        fmt::format("measured here: read {:.0f} GB/s, scale {:.0f} GB/s, copy {:.0f} GB/s, FFMA {:.1f} TFLOP/s, HFMA "
                    "{:.1f} TFLOP/s, DFMA {:.1f} TFLOP/s, DMMA {:.1f} TFLOP/s, FP16 mma {:.0f} TFLOP/s, TF32 mma "
                    "{:.0f} TFLOP/s, shared memory {:.1f} "
                    "TB/s, launch {:.1f} us, latency {:.0f} ns\n",
                    ceilings->read_gbs, ceilings->scale_gbs, ceilings->copy_gbs, ceilings->ffma_gflops * 1e-3,
                    ceilings->hfma_gflops * 1e-3, ceilings->dfma_gflops * 1e-3, ceilings->dmma_gflops * 1e-3,
                    ceilings->hmma_gflops * 1e-3, ceilings->tmma_gflops * 1e-3, ceilings->shared_gbs * 1e-3,
                    ceilings->launch_us, ceilings->latency_ns));
  } else if (!device.gpu) {
    say("no GPU: every stage's own kernel runs and is checked, one fiber for each CUDA thread; speeds need a GPU\n");
  }

  Json report = provenance(command, ceilings);
  const bool keep = !options.json.empty() && options.json != "-" && problems.size() > 1;
  const std::string part_file = options.json + ".part";
  report["results"] = Json::array();
  int status = 0;
  std::size_t passed = 0, failed = 0, skipped = 0;
  Estimate estimate(ceilings);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const ProblemSpec& problem = problems[i];
    if (contenders.empty() && !of_programs) break;  // of a part
    evaluate_options.estimate_ms = [&](const Contender& c) { return estimate.ms(c, problem); };
    const auto progress = [&](const std::string& what) {
      show_progress(fmt::format("{}x{}x{}: {}", problem.m, problem.n, problem.k, what));
    };
    const std::vector<Json> told = of_programs ? others.json[i] : std::vector<Json>{};  // by other programs
    const auto results = [&] {
      if (contenders.empty()) return others.results[i];
      try {
        if (of_programs) {
          std::vector<Result> all = others.results[i];
          std::ranges::move(evaluate(contenders, problem, evaluate_options, progress), std::back_inserter(all));
          return all;
        }
        return evaluate(contenders, problem, evaluate_options, progress);
      } catch (const OutOfDeviceMemory& error) {
        if (!options.many_shapes()) throw;  // the rest of a list is not lost for its largest
        return all_skipped(contenders, problem, error.what());
      }
    }();
    show_progress("");
    say(fmt::format("\n{}\n{}", describe(problem),
                    device.gpu ? table(results, ceilings, colour()) : count_table(results, colour())));
    for (std::size_t r = 0; r < results.size(); ++r) {
      const Result& result = results[r];
      if (r < told.size()) {
        report["results"].push_back(told[r]);
      } else {
        const Json full = to_json(result, ceilings, options.timing);
        report["results"].push_back(options.brief ? shortened(full) : full);
      }
      estimate.learn(result);
      passed += result.verdict.outcome == Outcome::pass;
      failed += result.verdict.outcome == Outcome::fail;
      skipped += result.verdict.outcome == Outcome::skip;
      if (result.verdict.device_lost) {
        fmt::print(stderr, "error: a kernel crashed the device; nothing more can run in this process\n");
        return 1;
      }
    }
    status = std::max(status, exit_status(results, ceilings, options.timing));
    // A long run that is cut short leaves what it had.
    if (keep) write_text(part_file, report_text(report));
  }
  say(fmt::format("\n{} right, {} wrong, {} skipped\n", passed, failed, skipped));
  // What could not be built or ended in the middle stops no other, but nothing is all right with it.
  for (const std::string& lost : others.lost) fmt::print(stderr, "error: {}\n", lost);
  if (!others.lost.empty()) status = std::max(status, 1);
  if (!options.json.empty()) write_text(options.json, report_text(report));
  if (keep) std::filesystem::remove(part_file);
  return status;
}

}  // namespace gemm

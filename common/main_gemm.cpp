// The whole-ladder program behind ./lab: ladder, run, compare, compile, candidates, batch, choice, probe, list, doctor,
// map.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <ranges>

#include "common/accuracy.hpp"
#include "common/batch.hpp"
#include "common/count_report.hpp"
#include "common/device.hpp"
#include "common/device_memory.hpp"
#include "common/doctor.hpp"
#include "common/jit.hpp"
#include "common/options.hpp"
#include "common/probe.hpp"
#include "common/report.hpp"
#include "common/thread_map.hpp"

namespace {

using namespace gemm;

bool colour() {
  return isatty(STDOUT_FILENO);
}

struct LadderOptions {
  std::vector<std::string> shapes;
  std::vector<std::string> only;
  std::string family;
  std::optional<Operation> op;
  std::optional<Type> type;
  TimingOptions timing;
  KernelOptions kernel;
  int batch = 1;
  std::string json;
  bool time = false, no_time = false;
  bool variants = false;
  bool with_libraries = false;
  bool standard = false;
  int sweep = 0;  // the step
  std::optional<std::uint64_t> random;
  std::optional<double> budget_ms;
  bool brief = false;

  bool many_shapes() const { return standard || sweep || random; }
};

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
  if (!open_device().gpu && (options.time || options.many_shapes())) {
    throw DeviceError(options.time ? "no device to time on: the CPU executor checks, and can't tell a GPU's speed"
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

int ladder(LadderOptions options, const std::string& command) {
  require_writable(options.json);
  const auto say = [&](const std::string& text) { tell(options.json, text); };
  const DeviceInfo& device = open_device();
  std::vector<Contender> contenders;
  if (!options.only.empty() && !options.op) options.op = find_stage(options.only.front()).op;
  if (!options.only.empty() && !options.type) options.type = find_stage(options.only.front()).type;
  const Operation op = options.op.value_or(Operation::gemm);
  const Type type = options.type.value_or(op == Operation::gemm ? Type::f32 : Type::f64);
  const auto enter = [&](const Stage& stage) {
    if (stage.op == op && stage.type && stage.type != type)
      throw UsageError(fmt::format("{} is for {}: one type at a time", stage.id, type_name(*stage.type)));
    if (stage.op != op) throw UsageError(stage.id + " is no " + operation_name(op) + ": one operation at a time");
    contenders.push_back(contender(stage));
    if (!options.variants) return;
    for (const Stage& form : variants(stage)) contenders.push_back(contender(form));
  };
  if (options.only.empty()) {
    for (const Stage* stage : stages_for(op, type, options.family)) enter(*stage);
    if (contenders.empty()) {
      const std::string where = options.family.empty() ? "" : " among those of " + options.family;
      throw UsageError(fmt::format("no stage for {} in {}{}", operation_name(op), type_name(type), where));
    }
  }
  for (const std::string& name : options.only) enter(find_stage(name));
  const auto takes_options = [](const Contender& c) { return static_cast<bool>(c.stage->generated); };
  const bool takes = options.only.empty() ? std::ranges::any_of(contenders, takes_options)
                                          : std::ranges::all_of(contenders, takes_options);
  if (options.kernel.any() && !takes) throw UsageError("options of kernels are for stages that generate them");
  if (const std::string why = foreign_options(op, options.kernel); !why.empty()) throw UsageError(why);
  const auto problems = ladder_problems(options);
  const std::vector<Contender>& libraries = baselines(problems.front().type);
  if (options.only.empty() || options.with_libraries)
    contenders.insert(contenders.end(), libraries.begin(), libraries.end());

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
    say(fmt::format(
        "measured here: read {:.0f} GB/s, scale {:.0f} GB/s, copy {:.0f} GB/s, FFMA {:.1f} TFLOP/s, DFMA "
        "{:.1f} TFLOP/s, DMMA {:.1f} TFLOP/s, FP16 mma {:.0f} TFLOP/s, TF32 mma {:.0f} TFLOP/s, shared memory {:.1f} "
        "TB/s, launch {:.1f} us, latency {:.0f} ns\n",
        ceilings->read_gbs, ceilings->scale_gbs, ceilings->copy_gbs, ceilings->ffma_gflops * 1e-3,
        ceilings->dfma_gflops * 1e-3, ceilings->dmma_gflops * 1e-3, ceilings->hmma_gflops * 1e-3,
        ceilings->tmma_gflops * 1e-3, ceilings->shared_gbs * 1e-3, ceilings->launch_us, ceilings->latency_ns));
  } else if (!device.gpu) {
    say("no GPU: every stage's own kernel runs and is checked, one fiber for each CUDA thread; speeds need a GPU\n");
  }

  Json report = provenance(command, ceilings);
  const bool part = !options.json.empty() && options.json != "-" && problems.size() > 1;
  const std::string part_file = options.json + ".part";
  report["results"] = Json::array();
  int status = 0;
  std::size_t passed = 0, failed = 0, skipped = 0;
  Estimate estimate(ceilings);
  for (const ProblemSpec& problem : problems) {
    evaluate_options.estimate_ms = [&](const Contender& c) { return estimate.ms(c, problem); };
    const auto progress = [&](const std::string& what) {
      show_progress(fmt::format("{}x{}x{}: {}", problem.m, problem.n, problem.k, what));
    };
    const auto results = [&] {
      try {
        return evaluate(contenders, problem, evaluate_options, progress);
      } catch (const OutOfDeviceMemory& error) {
        if (!options.many_shapes()) throw;  // the rest of a list is not lost for its largest
        return all_skipped(contenders, problem, error.what());
      }
    }();
    show_progress("");
    say(fmt::format("\n{}\n{}", describe(problem),
                    device.gpu ? table(results, ceilings, colour()) : count_table(results, colour())));
    for (const Result& result : results) {
      const Json full = to_json(result, ceilings, options.timing);
      report["results"].push_back(options.brief ? shortened(full) : full);
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
    if (part) write_text(part_file, report_text(report));
  }
  say(fmt::format("\n{} right, {} wrong, {} skipped\n", passed, failed, skipped));
  if (!options.json.empty()) write_text(options.json, report_text(report));
  if (part) std::filesystem::remove(part_file);
  return status;
}

// Two stages on one problem, each timed in turns with cuBLAS.
int compare_stages(const std::string& first, const std::string& second, RunOptions options,
                   const std::string& command) {
  const Stage& a = find_stage(first);
  const Stage& b = find_stage(second);
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

struct CompileOptions {
  std::string stage, target;
  std::vector<std::string> shapes;
  std::vector<Type> types;
  bool conjugate = false;
  KernelOptions kernel;
};

// "16" is 16 x 16, "16x8" M x N, "1-64" each of 1 x 1 to 64 x 64.
void add_sizes(const std::string& text, std::vector<std::pair<int, int>>& sizes) {
  int m = 0, n = 0, end = 0;
  const auto complete = [&] { return end > 0 && text[static_cast<std::size_t>(end)] == '\0'; };
  const auto add = [&](int first, int last, bool square) {
    for (int i = first; i <= last; ++i) sizes.emplace_back(i, square ? i : n);
  };
  constexpr int most = 1024;
  const auto in_range = [](int x) { return x >= 1 && x <= most; };
  if (std::sscanf(text.c_str(), "%d%n", &m, &end) == 1 && complete() && in_range(m)) return add(m, m, true);
  if (std::sscanf(text.c_str(), "%dx%d%n", &m, &n, &end) == 2 && complete() && in_range(m) && in_range(n))
    return add(m, m, false);
  if (std::sscanf(text.c_str(), "%d-%d%n", &m, &n, &end) == 2 && complete() && in_range(m) && in_range(n) && m <= n)
    return add(m, n, true);
  throw UsageError("sizes are M, MxN or FIRST-LAST, not '" + text + "'");
}

std::vector<std::pair<int, int>> parse_sizes(const std::vector<std::string>& texts) {
  std::vector<std::pair<int, int>> sizes;
  for (const std::string& text : texts) add_sizes(text, sizes);
  return sizes;
}

void add_types_option(CLI::App& app, std::vector<Type>& types) {
  types = {Type::f64, Type::c64};
  app.add_option_function<std::string>(
         "--type",
         [&types](const std::string& names) {
           types.clear();
           for (const char name : names) types.push_back(name == 'd' ? Type::f64 : Type::c64);
         },
         "d: double; z: double complex; dz: both (default)")
      ->check(CLI::IsMember({"d", "z", "dz"}));
}

int candidates(const std::vector<std::string>& names, const std::vector<std::string>& sizes, CandidateOptions options) {
  for (const std::string& name : names) {
    const Stage& stage = find_stage(name);
    if (!stage.generated || !stage.generated.candidates)
      throw UsageError(stage.id + " does not generate its kernel: there is nothing to choose");
    if (stage.op != find_stage(names.front()).op) throw UsageError("stages of one operation, please");
    if (const std::string why = foreign_options(stage.op, options.kernel); !why.empty()) throw UsageError(why);
    options.stages.push_back(&stage);
  }
  options.sizes = parse_sizes(sizes);
  print_candidates(options);
  return 0;
}

// Fills the cache of kernels, for another machine, too.
int compile_ahead(const CompileOptions& options) {
  const Stage& stage = find_stage(options.stage);
  if (!stage.generated) throw UsageError(stage.id + " does not generate its kernel: there is nothing to compile");
  if (!options.target.empty()) require_jit_target(options.target);
  if (const std::string why = foreign_options(stage.op, options.kernel); !why.empty()) throw UsageError(why);
  if (options.conjugate && stage.op != Operation::tsmttsm) throw UsageError("only A of a TSMTTSM can be conjugated");
  const std::string target = options.target.empty() ? native_jit_target() : options.target;
  const std::vector<std::pair<int, int>> sizes = parse_sizes(options.shapes);
  fmt::print("{} for {}, kept in {}\n{:<7} {:>9} {:>14} {:>6} {:>9} {:>9} {:>8}\n", stage.id, target,
             kernel_cache().string(), "type", "M x N", stage.op == Operation::tsmm ? "a row, C from" : "tile", "unroll",
             "registers", "spilled", "seconds");
  int failed = 0, kept = 0;
  double seconds = 0;
  for (const auto& [m, n] : sizes) {
    for (const Type type : options.types) {
      const bool is_complex = type == Type::c64;
      const KernelOptions used = stage.generated.choose(m, n, is_complex, options.kernel);
      const std::string size =
          fmt::format("{:<7} {:>9}", is_complex ? "complex" : "real", fmt::format("{} x {}", m, n));
      if (const std::string why = kernel_refusal(stage, m, n, is_complex, used); !why.empty()) {
        fmt::print("{} {}\n", size, why);
        continue;
      }
      const JitEntry entry =
          compile_kernel(stage.generated.request(m, n, is_complex, options.conjugate && is_complex, used), target);
      if (entry.status.code == Status::Code::unsupported) throw DeviceError(entry.status.reason);
      failed += !entry.status;
      kept += entry.status && !entry.file.empty();
      seconds += entry.seconds;
      const std::string shape =
          stage.op == Operation::tsmm
              ? fmt::format("{}, {}", used.threads_per_row, used.c_source ? c_source_name(*used.c_source) : "-")
              : fmt::format("{}x{}", used.tile_m, used.tile_n);
      fmt::print("{} {:>14} {:>6} {}\n", size, shape, used.unroll,
                 entry.status ? fmt::format("{:>9} {:>9} {:>8}", entry.binary.registers, entry.binary.spill_bytes,
                                            entry.compiled ? fmt::format("{:.2f}", entry.seconds) : "kept")
                              : entry.status.reason);
      std::fflush(stdout);
    }
  }
  fmt::print("{} kept, {} failed; {:.1f} s\n", kept, failed, seconds);
  return failed ? 1 : 0;
}

struct ChoiceOptions {
  std::vector<std::string> shapes;
  std::vector<Type> types;
  std::string json;
};

// For each stage that chooses among others and each type: those, and a line for each m with a letter for each n, A
// being the first of them.
Json choice_maps(const std::vector<Type>& types, int widest) {
  Json maps = Json::object();
  for (const Stage& stage : stages()) {
    if (!stage.generated.stage) continue;
    for (const Type type : types) {
      std::vector<std::string> chosen, lines;
      for (int m = 1; m <= widest; ++m) {
        std::string line;
        for (int n = 1; n <= widest; ++n) {
          const std::string id = stage.generated.stage(m, n, type == Type::c64, {});
          auto found = std::ranges::find(chosen, id);
          if (found == chosen.end()) found = chosen.insert(found, id);
          line += static_cast<char>('A' + (found - chosen.begin()));
        }
        lines.push_back(std::move(line));
      }
      maps[stage.id + (type == Type::c64 ? "/z" : "/d")] = {{"stages", chosen}, {"map", lines}};
    }
  }
  return maps;
}

// Which kernels the stages that choose among others take.
int choices(const ChoiceOptions& options) {
  require_writable(options.json);
  if (!options.json.empty()) {
    constexpr int widest = 64;
    if (!options.shapes.empty()) throw UsageError("--json writes the map of all sizes to 64 x 64: name none");
    write_text(options.json, choice_maps(options.types, widest).dump(1) + "\n");
    return 0;
  }
  std::vector<std::pair<int, int>> sizes;
  for (const std::string& text : options.shapes) add_sizes(text, sizes);
  if (options.shapes.empty()) {
    for (const int width : {1, 2, 4, 8, 12, 16, 24, 32, 48, 64}) sizes.emplace_back(width, width);
  }
  for (const Stage& stage : stages()) {
    if (!stage.generated.stage) continue;
    fmt::print("{}: {}\n", stage.id, stage.idea);
    for (const Type type : options.types) {
      const bool is_complex = type == Type::c64;
      for (const auto& [m, n] : sizes) {
        const std::string id = stage.generated.stage(m, n, is_complex, {});
        fmt::print("  {:<7} {:>9}  {:<24} {}\n", is_complex ? "complex" : "real", fmt::format("{} x {}", m, n),
                   id.empty() ? "none" : id, to_json(stage.generated.choose(m, n, is_complex, {})).dump());
      }
    }
  }
  return 0;
}

// Numbered probes stand where their number says; scripts know them by the word behind the id.
int list(bool with_variants) {
  const auto numbered = [](const Probe& probe) { return !probe.number.empty(); };
  auto probes = all_probes() | std::views::filter(numbered);
  auto probe = probes.begin();
  const auto probes_before = [&](const std::string* id) {
    for (; probe != probes.end() && (!id || probe->name < *id); ++probe)
      fmt::print("{:<28}  (probe) {}\n", probe->name, probe->idea);
  };
  for (const Stage& stage : stages()) {
    probes_before(&stage.id);
    fmt::print("{:<28}  {}\n", stage.id, stage.idea);
    if (!with_variants) continue;
    for (const Stage& form : variants(stage))
      fmt::print("  {:<26}  {}\n", form.id.substr(form.id.find('/') + 1), form.idea);
  }
  probes_before(nullptr);
  return 0;
}

int list_probes() {
  for (const Probe& probe : all_probes())
    fmt::print("{:<{}}  {}\n", probe.name, probe.number.empty() ? 12 : 28, probe.idea);
  return 0;
}

// A command for each probe; running one sets `action`.
void add_probe_command(CLI::App& app, const std::string& command, std::function<int()>& action) {
  CLI::App* all = app.add_subcommand("probe", "small kernels that measure the hardware; without a name: the list");
  all->require_subcommand(0, 1);
  all->callback([all, &action] {
    if (all->get_subcommands().empty()) action = list_probes;
  });
  for (const Probe& probe : all_probes()) {
    CLI::App* one = all->add_subcommand(probe.name, std::string(probe.idea));
    const auto request = std::make_shared<ProbeRequest>();
    if (!probe.number.empty()) one->alias(probe.number);
    add_probe_options(*one, probe, *request);
    one->callback([&probe, request, command, &action] {
      action = [&probe, request, command] { return run_probe(probe, *request, command); };
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Staged GEMM: every stage checked, timed against cuBLAS, and explained");
  app.require_subcommand(1);
  const std::string command = command_line(argc, argv);
  std::function<int()> action;

  LadderOptions ladder_options;
  CLI::App* ladder_command = app.add_subcommand("ladder", "all stages beside cuBLAS: check, time, compare");
  CLI::Option_group* which = ladder_command->add_option_group("shapes", "what to multiply");
  which->require_option(0, 1);
  which->add_option("shapes", ladder_options.shapes, "sizes N or MxNxK (default: a few that tell the stages apart)");
  which->add_flag("--standard", ladder_options.standard, "the sizes that are measured and committed");
  which->add_flag("--sweep{128}", ladder_options.sweep,
                  "cubes, to 4096 in steps of 128 (--sweep=N: of N), then of 512");
  ladder_command
      ->add_option_function<std::string>(
          "--op",
          [&](const std::string& name) {
            ladder_options.op = name == "gemm"   ? Operation::gemm
                                : name == "tsmm" ? Operation::tsmm
                                                 : Operation::tsmttsm;
          },
          "gemm (default): the SGEMM ladder; tsmttsm, tsmm: tall & skinny, shapes being MxNxK with K the long side")
      ->check(CLI::IsMember({"gemm", "tsmttsm", "tsmm"}));
  add_type_option(*ladder_command, ladder_options.type);
  ladder_command->add_option("--batch", ladder_options.batch, "of each shape so many products (--type s)");
  which->add_option("--random", ladder_options.random, "ten shapes between 200 and 8192, drawn with this seed");
  ladder_command->add_option("--only", ladder_options.only, "these stages only, separated by commas; no libraries")
      ->delimiter(',')
      ->allow_extra_args(false);
  ladder_command
      ->add_option("--family", ladder_options.family,
                   "sgemm, tsm or tensorcore; of FP32 products by default sgemm's stages")
      ->check(CLI::IsMember({"sgemm", "tsm", "tensorcore"}));
  ladder_command->add_flag("--variants", ladder_options.variants, "the stages' variants, too");
  ladder_command->add_flag("--with-libraries", ladder_options.with_libraries, "cuBLAS as well, with --only");
  CLI::Option* no_time = ladder_command->add_flag("--no-time", ladder_options.no_time, "check only");
  ladder_command->add_flag("--time", ladder_options.time, "time, or end with status 2 where there is no GPU")
      ->excludes(no_time);
  ladder_command
      ->add_option(
          "--budget-ms", ladder_options.budget_ms,
          "skip a stage where a launch takes longer (default: no limit; 300 with a list of shapes or tall & skinny)")
      ->check(CLI::Range(0.001, 1e9));
  ladder_command->add_option("--json", ladder_options.json, "write the results to this file");
  ladder_command->add_flag("--brief", ladder_options.brief, "in the JSON, shapes, statuses and times alone");
  add_timing_options(*ladder_command, ladder_options.timing);
  add_kernel_options(*ladder_command, ladder_options.kernel);
  ladder_command->callback([&] { action = [&] { return ladder(ladder_options, command); }; });

  std::string run_id;
  RunOptions run_options;
  CLI::App* run_command = app.add_subcommand("run", "one stage on one problem");
  run_command->add_option("stage", run_id, "its id or number, as `list` shows it")->required();
  add_run_options(*run_command, run_options);
  run_command->callback([&] { action = [&] { return run_stage(find_stage(run_id), run_options, command); }; });

  std::string first, second;
  RunOptions compare_options;
  CLI::App* compare_command = app.add_subcommand("compare", "two stages side by side");
  compare_command->add_option("a", first, "a stage")->required();
  compare_command->add_option("b", second, "another")->required();
  add_run_options(*compare_command, compare_options);
  compare_command->callback([&] { action = [&] { return compare_stages(first, second, compare_options, command); }; });

  CompileOptions compile_options;
  CLI::App* compile_command = app.add_subcommand("compile", "kernels of a stage that generates them, ahead of time");
  compile_command->add_option("stage", compile_options.stage, "its id")->required();
  compile_command->add_option("sizes", compile_options.shapes, "M, MxN or FIRST-LAST (squares)")->required();
  compile_command->add_option("--arch", compile_options.target,
                              "such as sm_90a; needs no GPU (default: this machine's)");
  add_types_option(*compile_command, compile_options.types);
  compile_command->add_flag("--conj", compile_options.conjugate, "A^H in place of A^T");
  add_kernel_options(*compile_command, compile_options.kernel);
  compile_command->callback([&] { action = [&] { return compile_ahead(compile_options); }; });

  std::vector<std::string> candidate_stages, candidate_sizes;
  CandidateOptions candidate_options;
  CLI::App* candidates_command = app.add_subcommand(
      "candidates", "kernels that a stage could generate, as cases for batch, the best first by its model");
  candidates_command->add_option("stages", candidate_stages, "their ids, separated by commas")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false);
  candidates_command->add_option("sizes", candidate_sizes, "M, MxN or FIRST-LAST (squares)")->required();
  add_types_option(*candidates_command, candidate_options.types);
  candidates_command->add_option("--most", candidate_options.most, "of each stage for a size (default: all)")
      ->check(CLI::Range(1, 100000));
  candidates_command->add_flag_callback(
      "--exhaustive", [&] { candidate_options.search = Search::exhaustive; }, "also those that the models rule out");
  CLI::Option* const mib =
      candidates_command->add_option("--mib", candidate_options.mib, "MiB of A, which K follows from")
          ->check(CLI::Range(0.001, 1e6))
          ->capture_default_str();
  candidates_command->add_option("--k", candidate_options.k, "or K")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->excludes(mib);
  add_kernel_options(*candidates_command, candidate_options.kernel);
  candidates_command->callback(
      [&] { action = [&] { return candidates(candidate_stages, candidate_sizes, candidate_options); }; });

  BatchOptions batch_options;
  bool no_check = false, no_batch_time = false, no_exact = false, with_library = false;
  CLI::App* batch_command =
      app.add_subcommand("batch", "many problems, kernels and options from a file, in one process");
  batch_command->add_option("cases", batch_options.cases, "a file of JSON lines (- for standard input)")->required();
  CLI::Option* const out = batch_command->add_option(
      "--out", batch_options.out, "the results, JSON lines; those that it has already are not measured again");
  CLI::Option* const compile_only =
      batch_command->add_flag("--compile-only", batch_options.compile_only, "only fill the cache of kernels");
  compile_only->excludes(out);
  batch_command->add_option("--arch", batch_options.target, "to compile for, such as sm_90a; needs no GPU")
      ->needs(compile_only);
  batch_command->add_option("--part", batch_options.part, "2/4: to compile, the second fourth of the cases")
      ->needs(compile_only);
  batch_command->add_flag("--no-check", no_check, "time only");
  batch_command->add_flag("--no-exact", no_exact, "check on random data only, not on whole numbers, too");
  batch_command->add_flag("--no-time", no_batch_time, "check only");
  batch_command->add_flag("--with-library", with_library, "each timed in turns with cuBLAS");
  add_timing_options(*batch_command, batch_options.evaluate.timing);
  batch_command->callback([&] {
    action = [&] {
      if (!batch_options.compile_only && batch_options.out.empty())
        throw UsageError("--out is needed: where results go");
      if (no_check && no_batch_time) throw UsageError("neither check nor time: nothing to do");
      batch_options.evaluate.check = !no_check;
      batch_options.evaluate.exact = !no_exact;
      batch_options.evaluate.time = !no_batch_time;
      batch_options.evaluate.yardstick = with_library;
      return run_batch(batch_options, command);
    };
  });

  ChoiceOptions choice_options;
  CLI::App* choice_command = app.add_subcommand("choice", "which kernels the stages take that choose among others");
  choice_command->add_option("sizes", choice_options.shapes, "M, MxN or FIRST-LAST (squares); default: some squares");
  add_types_option(*choice_command, choice_options.types);
  choice_command->add_option("--json", choice_options.json, "write the map of all sizes to 64 x 64 to this file");
  choice_command->callback([&] { action = [&] { return choices(choice_options); }; });

  add_probe_command(app, command, action);
  add_accuracy_command(app, command, action);

  bool list_variants = false;
  CLI::App* list_command = app.add_subcommand("list", "all stages");
  list_command->add_flag("--variants", list_variants, "and their variants, which run as NN:name");
  list_command->callback([&] { action = [&] { return list(list_variants); }; });
  app.add_subcommand("doctor", "is this machine ready? each line ok or what to do")->callback([&] { action = doctor; });

  std::string map_json = "-";
  CLI::App* map_command =
      app.add_subcommand("map", "which thread writes which element of C, found by running (CPU build)");
  map_command->add_option("--json", map_json, "where to")->capture_default_str();
  map_command->callback([&] { action = [&] { return write_thread_maps(map_json); }; });

  return run_program(app, argc, argv, [&] { return action(); });
}

// The whole-ladder program behind ./lab: ladder, run, compare, compile, candidates, batch, choice, probe, list, doctor,
// map.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>

#include "common/accuracy.hpp"
#include "common/batch.hpp"
#include "common/count_report.hpp"
#include "common/device.hpp"
#include "common/device_memory.hpp"
#include "common/doctor.hpp"
#include "common/jit.hpp"
#include "common/ladder.hpp"
#include "common/options.hpp"
#include "common/probe.hpp"
#include "common/report.hpp"
#include "common/thread_map.hpp"

namespace {

using namespace gemm;

bool colour() {
  return isatty(STDOUT_FILENO);
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
  add_ladder_options(*ladder_command, ladder_options);
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

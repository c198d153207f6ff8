#include "common/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/count_report.hpp"
#include "common/device.hpp"
#include "common/ladder.hpp"
#include "common/report.hpp"

namespace gemm {
namespace {

constexpr bool on_gpu = GEMM_ON_GPU;

}  // namespace

void add_type_option(CLI::App& app, std::optional<Type>& type) {
  app.add_option_function<std::string>(
         "--type", [&type](const std::string& name) { type = type_of(name); },
         "s: float; h: FP16 operands, the result float; d: double; z: double complex (default: d for tall & skinny "
         "products, else what the stages take, or s)")
      ->check(CLI::IsMember({"s", "h", "d", "z"}));
}

void set_kind(ProblemSpec& spec, Operation op, std::optional<Type> type) {
  spec.op = op;
  spec.type = type.value_or(op == Operation::gemm ? Type::f32 : Type::f64);
  const bool plain = spec.type == Type::f32 || spec.type == Type::f16;
  if ((op == Operation::gemm) != plain)
    throw UsageError(fmt::format("no {} in {}", operation_name(op), type_name(spec.type)));
}

namespace {

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

}  // namespace

void add_timing_options(CLI::App& app, TimingOptions& timing) {
  app.add_option_function<std::string>(
         "--cache", [&timing](const std::string& text) { timing.cold = text == "cold"; },
         "L2 cache before each launch: warm (as the last launch left it) or cold (flushed)")
      ->check(CLI::IsMember({"warm", "cold"}))
      ->default_str("warm");
  app.add_option("--seconds", timing.seconds, "about how long to sample each kernel")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
}

void add_kernel_options(CLI::App& app, KernelOptions& options) {
  app.add_option("--tile-m", options.tile_m, "of a generated TSMTTSM: columns of A that a thread has")
      ->check(CLI::Range(1, 64));
  app.add_option("--tile-n", options.tile_n, "columns of B")->check(CLI::Range(1, 64));
  const auto add_switch = [&](const char* name, std::optional<bool>& value, const char* description) {
    app.add_option_function<std::string>(
           name, [&value](const std::string& text) { value = text == "on"; }, description)
        ->check(CLI::IsMember({"on", "off"}));
  };
  add_switch("--transposed", options.transposed, "on: neighbouring threads have neighbouring columns; off: tiles");
  add_switch("--leapfrog", options.leapfrog, "on: the next rows are loaded before these are multiplied");
  app.add_option("--unroll", options.unroll, "rows that are loaded together")->check(CLI::Range(1, 16));
  app.add_option_function<std::string>(
         "--reduction",
         [&options](const std::string& name) {
           for (const Reduction each : {Reduction::atomics, Reduction::local, Reduction::ordered}) {
             if (name == reduction_name(each)) options.reduction = each;
           }
         },
         "atomics: each thread adds to C; local: each block; ordered: a second kernel, the same bits every time")
      ->check(CLI::IsMember({"atomics", "local", "ordered"}));
  app.add_option("--products", options.products, "of real numbers for one of complex ones: 3 or 4")
      ->check(CLI::IsMember({"3", "4"}));
  app.add_option_function<std::string>(
         "--c-source",
         [&options](const std::string& name) {
           for (const CSource each : {CSource::registers, CSource::global, CSource::shared}) {
             if (name == c_source_name(each)) options.c_source = each;
           }
         },
         "of TSMM: where a thread reads C for each row: registers, global (L1 cache), shared")
      ->check(CLI::IsMember({"registers", "global", "shared"}));
  app.add_option("--threads-per-row", options.threads_per_row, "of TSMM: threads that have a row of B between them")
      ->check(CLI::IsMember({"1", "2", "4", "8", "16"}));
  app.add_option("--threads", options.threads, "of a block")->check([](const std::string& text) {
    const int threads = std::atoi(text.c_str());
    return threads >= 32 && threads <= 1024 && threads % 32 == 0 ? "" : "threads must be 32, 64, ... 1024";
  });
  app.add_option_function<std::string>(
      "--kernel-cache", [](const std::string& folder) { setenv("GEMM_KERNEL_CACHE", folder.c_str(), 1); },
      "where compiled kernels are kept (default: $GEMM_KERNEL_CACHE, or ~/.cache/staged-gemm)");
}

void add_run_options(CLI::App& app, RunOptions& options) {
  add_problem_options(app, options);
  add_kernel_options(app, options.spec.kernel);
  add_timing_options(app, options.evaluate.timing);
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

void prepare(RunOptions& options, const Stage& stage) {
  const std::optional<Type> type = options.type ? options.type : stage.type;
  set_kind(options.spec, stage.op, type);
  if (stage.type && type != stage.type)
    throw UsageError(fmt::format("{} is for {}, not {}", stage.id, type_name(*stage.type), type_name(*type)));
  set_default_sizes(options);
  options.count_asked |= options.lines_asked;
  const bool asked = options.check_asked || options.time_asked || options.count_asked;
  options.evaluate.check = options.check_asked || options.count_asked || !asked;
  options.evaluate.time = options.time_asked || (!asked && on_gpu);
  options.evaluate.count = options.count_asked || (!asked && !on_gpu);
  options.evaluate.lines = options.lines_asked;
  options.spec.validate();
  require_kernel_options(options.spec, stage);
  require_writable(options.json);
  open_device();
  if (options.evaluate.time && !on_gpu) {
    throw DeviceError("no device to time on: the CPU executor checks, and can't tell a GPU's speed");
  }
  if (options.evaluate.count && on_gpu) {
    throw DeviceError("counts come from the CPU executor (--cpu); on a GPU, Nsight Compute counts (docs/measurements)");
  }
}

int run_stage(const Stage& stage, RunOptions options, const std::string& command) {
  prepare(options, stage);
  const auto ceilings = options.evaluate.time ? measure_ceilings() : std::nullopt;
  const auto results = evaluate({contender(stage)}, options.spec, options.evaluate, show_progress);
  show_progress("");
  if (!options.json.empty()) {
    Json json = to_json(results[0], ceilings, options.evaluate.timing);
    json["run"] = provenance(command, ceilings);
    write_text(options.json, json.dump(options.json == "-" ? -1 : 1) + "\n");
  }
  tell(options.json, describe(options.spec) + "\n" + table(results, ceilings, isatty(STDOUT_FILENO)));
  if (!results[0].verdict.policy.empty()) tell(options.json, "taken: " + results[0].verdict.policy + "\n");
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

void add_ladder_options(CLI::App& app, LadderOptions& options) {
  CLI::Option_group* which = app.add_option_group("shapes", "what to multiply");
  which->require_option(0, 1);
  which->add_option("shapes", options.shapes, "sizes N or MxNxK (default: a few that tell the stages apart)");
  which->add_flag("--standard", options.standard, "the sizes that are measured and committed");
  which->add_flag("--sweep{128}", options.sweep, "cubes, to 4096 in steps of 128 (--sweep=N: of N), then of 512");
  app.add_option_function<std::string>(
         "--op",
         [&options](const std::string& name) {
           options.op = name == "gemm" ? Operation::gemm : name == "tsmm" ? Operation::tsmm : Operation::tsmttsm;
         },
         "gemm (default): the SGEMM ladder; tsmttsm, tsmm: tall & skinny, shapes being MxNxK with K the long side")
      ->check(CLI::IsMember({"gemm", "tsmttsm", "tsmm"}));
  add_type_option(app, options.type);
  app.add_option("--batch", options.batch, "of each shape so many products (--type s)");
  which->add_option("--random", options.random, "ten shapes between 200 and 8192, drawn with this seed")
      ->check(CLI::NonNegativeNumber);  // CLI11 2.1 reads -1 as 2^64 - 1
  app.add_option("--only", options.only, "these stages only, separated by commas; no libraries")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--family", options.family, "sgemm, tsm or tensorcore; of FP32 products by default sgemm's stages")
      ->check(CLI::IsMember({"sgemm", "tsm", "tensorcore"}));
  app.add_flag("--variants", options.variants, "the stages' variants, too");
  app.add_flag("--with-libraries", options.with_libraries, "cuBLAS as well, with --only");
  CLI::Option* no_time = app.add_flag("--no-time", options.no_time, "check only");
  app.add_flag("--time", options.time, "time, or end with status 2 where there is no GPU")->excludes(no_time);
  app.add_option(
         "--budget-ms", options.budget_ms,
         "skip a stage where a launch takes longer (default: no limit; 300 with a list of shapes or tall & skinny)")
      ->check(CLI::Range(0.001, 1e9));
  app.add_option("--json", options.json, "write the results to this file");
  app.add_flag("--brief", options.brief, "in the JSON, shapes, statuses and times alone");
  add_timing_options(app, options.timing);
  add_kernel_options(app, options.kernel);
}

std::string command_line(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    std::string word = argv[i];
    word = word.substr(word.find_last_of('/') + 1);
    text += (i ? " " : "") + word;
  }
  return text;
}

void show_progress(const std::string& text) {
  if (!isatty(STDERR_FILENO)) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

namespace {

// One line, whatever the user typed into it.
int complain(std::string message) {
  show_progress("");
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  constexpr std::size_t longest = 180;
  if (message.size() > longest) message = message.substr(0, longest) + "...";
  fmt::print(stderr, "error: {}\n", message);
  return 2;
}

}  // namespace

int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  try {
    app.parse(argc, argv);
    return body();
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return complain(error.what());
  } catch (const UsageError& error) {
    return complain(error.what());
  } catch (const DeviceError& error) {
    return complain(error.what());
  } catch (const std::bad_alloc&) {
    return complain("out of memory");
  }
}

namespace {

// Options for ./lab, which builds a program for each stage and none with all of them.
const char* const hidden = "";

int part_of_ladder(const Stage& stage, int argc, char** argv) {
  CLI::App app(stage.id + ": " + std::string(stage.idea));
  LadderOptions options;
  add_ladder_options(app, options);
  app.add_flag("--part", options.part, "no results for products of other kinds")->group(hidden);
  return run_program(app, argc, argv, [&] { return ladder(options, command_line(argc, argv)); });
}

}  // namespace

int stage_program(const Stage& stage, int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "ladder") return part_of_ladder(stage, argc - 1, argv + 1);
  CLI::App app(stage.id + ": " + std::string(stage.idea));
  RunOptions options;
  add_run_options(app, options);
  std::string variant;
  app.add_option("--variant", variant, "another form of the kernel: one of those that --variants shows");
  bool list = false;
  app.add_flag("--variants", list, "show the variants");
  return run_program(app, argc, argv, [&] {
    if (list) {
      for (const Stage& form : variants(stage))
        fmt::print("{:<20}  {}\n", form.id.substr(stage.id.size() + 1), form.idea);
      return 0;
    }
    const Stage& chosen = variant.empty() ? stage : find_stage(stage.id + ":" + variant);
    return run_stage(chosen, options, command_line(argc, argv));
  });
}

int ladder_program(int argc, char** argv, ProgramResults (*run_programs)(const LadderOptions&)) {
  CLI::App app("All stages beside cuBLAS: check, time, compare");
  LadderOptions options;
  options.run_programs = run_programs;
  add_ladder_options(app, options);
  app.add_option("--program", options.programs, "a stage's program")->group(hidden)->allow_extra_args(false);
  app.add_option("--broken", options.broken, "a stage that has none")->group(hidden)->allow_extra_args(false);
  // What the stages' programs get: all but what is for this one.
  std::string typed = "ladder";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool ours = word == "--program" || word == "--broken", file = word == "--json";
    if (!ours) typed += " " + std::string(word);
    if (ours || file) {
      ++i;
      if (file && i < argc) typed += " " + std::string(argv[i]);
    } else if (!word.starts_with("--json=")) {
      options.forwarded.emplace_back(word);
    }
  }
  return run_program(app, argc, argv, [&] {
    if (options.programs.empty() && options.broken.empty()) throw UsageError("no stages: ./lab ladder names them");
    return ladder(options, typed);
  });
}

}  // namespace gemm

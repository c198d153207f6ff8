// Many problems and kernels in one process, from a file: what the autotuner and the experiments measure with.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "common/backend/ceilings.hpp"
#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/commands/commands.hpp"
#include "common/commands/options.hpp"
#include "common/commands/program.hpp"
#include "common/commands/run.hpp"
#include "common/kernel/status.hpp"
#include "common/measure/evaluate.hpp"
#include "common/problem/names.hpp"
#include "common/report/files.hpp"
#include "common/report/kernel_options_json.hpp"
#include "common/report/provenance.hpp"
#include "common/report/result_json.hpp"
#include "common/report/verdict.hpp"
#include "common/toolchain/jit.hpp"

namespace gemm {
namespace {

struct BatchOptions {
  std::string cases;  // a file of JSON lines, - for standard input (docs/concepts/batch.md)
  std::string out;    // JSON lines, too; what is in there already is not run again
  EvaluateOptions evaluate;
  bool compile_only = false;
  std::string target;     // to compile for
  std::string part = "";  // "2/4": to compile, the second fourth of all cases
};

struct Case {
  Json json;  // as it was given
  ProblemSpec spec;
  const Stage* stage = nullptr;  // null: the library

  // What data and reference depend on.
  std::string problem() const {
    Json rest = json;
    for (const char* const key : {"stage", "options", "tag"}) rest.erase(key);
    return rest.dump() + operation_name(spec.op);
  }
};

template <class Value>
Value value_of(const Json& json, const char* key, Value otherwise) {
  if (!json.contains(key)) return otherwise;
  const Json& value = json[key];
  const bool fits = std::is_same_v<Value, bool>          ? value.is_boolean()
                    : std::is_same_v<Value, std::string> ? value.is_string()
                    : std::is_integral_v<Value>          ? value.is_number_integer()
                                                         : value.is_number();
  if (!fits) throw UsageError(fmt::format("{} can't be {}", key, value.dump()));
  if constexpr (std::is_same_v<Value, int>) {
    const auto wide = value.get<std::int64_t>();
    if (wide != static_cast<int>(wide)) throw UsageError(fmt::format("{} can't be {}", key, wide));
  }
  return value.get<Value>();
}

// Here, and nowhere else, a reduction may be "none".
KernelOptions options_of(Json json) {
  const bool none = json.is_object() && json.contains("reduction") && json["reduction"] == "none";
  if (none) json.erase("reduction");
  KernelOptions options = kernel_options_from_json(json);
  if (none) options.reduction = Reduction::none;
  return options;
}

Case parse_case(const std::string& line) {
  static const std::set<std::string> known = {"stage", "options", "tag",    "op",   "type", "m",
                                              "n",     "k",       "conj",   "lda",  "ldb",  "ldc",
                                              "alpha", "beta",    "offset", "seed", "dist"};
  Case result;
  result.json = Json::parse(line, nullptr, false);
  const Json& json = result.json;
  if (!json.is_object()) throw UsageError("not a JSON object");
  for (const auto& [key, value] : json.items()) {
    if (!known.contains(key)) throw UsageError("a case has no " + Json(key).dump());
  }
  for (const char* const key : {"stage", "m", "n", "k"}) {
    if (!json.contains(key)) throw UsageError(fmt::format("there is no {}", Json(key).dump()));
  }
  const auto name = value_of<std::string>(json, "stage", "");
  if (name != "library") result.stage = &find_stage(name);
  ProblemSpec& spec = result.spec;
  spec.op = result.stage ? result.stage->op : operation_of(value_of<std::string>(json, "op", "gemm"));
  std::optional<Type> type;
  if (json.contains("type")) type = type_of(value_of<std::string>(json, "type", ""));
  set_kind(spec, spec.op, type);
  spec.m = value_of(json, "m", 0);
  spec.n = value_of(json, "n", 0);
  spec.k = value_of(json, "k", std::int64_t{0});
  spec.conjugate = value_of(json, "conj", false);
  spec.lda = value_of(json, "lda", std::int64_t{0});
  spec.ldb = value_of(json, "ldb", std::int64_t{0});
  spec.ldc = value_of(json, "ldc", std::int64_t{0});
  spec.alpha = value_of(json, "alpha", 1.0);
  spec.beta = value_of(json, "beta", 0.0);
  spec.offset = value_of(json, "offset", 0);
  spec.seed = value_of(json, "seed", std::uint64_t{1});
  spec.distribution = distribution_of(value_of<std::string>(json, "dist", "uniform"));
  spec.validate();
  if (json.contains("options")) spec.kernel = options_of(json["options"]);
  if (!result.stage) {
    if (spec.kernel.any()) throw UsageError("the library has no options of kernels");
    return result;
  }
  require_kernel_options(spec, *result.stage);
  return result;
}

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) throw UsageError("can't read " + path);
  }
  std::istream& stream = path == "-" ? std::cin : file;
  std::vector<Case> cases;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      cases.push_back(parse_case(line));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("line {} of the cases: {}", number, error.what()));
    }
  }
  if (cases.empty()) throw UsageError("there are no cases in " + (path == "-" ? "the input" : path));
  return cases;
}

// The results that a file has already, a line each; the first says what was measured on what.
class Results {
 public:
  Results(const std::string& path, const Json& run) : path_(path) {
    if (path == "-") {
      append(Json{{"run", run}});
      return;
    }
    require_writable(path);
    std::ifstream file(path);
    std::string line, whole;
    bool first = true;
    while (std::getline(file, line)) {
      const Json json = Json::parse(line, nullptr, false);
      if (json.is_discarded()) continue;  // the last one, of a process that was killed
      whole += line + "\n";
      if (first) require_same(json, run);
      first = false;
      if (json.contains("case")) done_.insert(json["case"].dump());
    }
    if (first) whole = Json{{"run", run}}.dump() + "\n";
    write_text(path, whole);
  }

  bool has(const Case& which) const { return done_.contains(which.json.dump()); }

  void append(const Json& json) {
    const std::string line = json.dump() + "\n";
    std::FILE* const file = path_ == "-" ? stdout : std::fopen(path_.c_str(), "a");
    const bool written = file && std::fwrite(line.data(), 1, line.size(), file) == line.size() && !std::fflush(file);
    if (file && file != stdout) std::fclose(file);
    if (!written) throw UsageError("can't write " + path_);
  }

 private:
  void require_same(const Json& found, const Json& run) const {
    for (const char* const key : {"device", "commit"}) {
      const std::string has = found.contains("run") ? found["run"].value(key, "") : "";
      if (has != run[key].get<std::string>())
        throw UsageError(fmt::format("{} has results of another {} ('{}'): name another file", path_, key, has));
    }
  }

  std::string path_;
  std::set<std::string> done_;
};

// "2/4"
std::pair<std::size_t, std::size_t> part_of(const std::string& text) {
  if (text.empty()) return {1, 1};
  std::size_t part = 0, parts = 0;
  int end = 0;
  if (std::sscanf(text.c_str(), "%zu/%zu%n", &part, &parts, &end) != 2 || text[static_cast<std::size_t>(end)] != '\0' ||
      part < 1 || part > parts)
    throw UsageError("a part is 1/4, 2/4 and so on, not '" + text + "'");
  return {part, parts};
}

int compile_cases(const std::vector<Case>& cases, const BatchOptions& options) {
  const std::string target = options.target.empty() ? native_jit_target() : options.target;
  require_jit_target(target);
  const auto [part, parts] = part_of(options.part);
  int compiled = 0, kept = 0, failed = 0;
  for (std::size_t i = part - 1; i < cases.size(); i += parts) {
    const auto& [json, spec, stage] = cases[i];
    if (!stage || !stage->generated || spec.m == 0 || spec.n == 0) continue;
    const bool is_complex = spec.type == Type::c64;
    const KernelOptions used = stage->generated.choose(spec.m, spec.n, is_complex, spec.kernel);
    if (!kernel_refusal(*stage, spec.m, spec.n, is_complex, used).empty()) continue;
    show_progress(fmt::format("{} of {}", i + 1, cases.size()));
    const JitEntry entry = compile_kernel(
        stage->generated.request(spec.m, spec.n, is_complex, spec.conjugate && is_complex, used), target);
    if (entry.status.code == Status::Code::unsupported) throw DeviceError(entry.status.reason);
    if (!entry.status) fmt::print(stderr, "{}\n", entry.status.reason);
    (!entry.status ? failed : entry.compiled ? compiled : kept)++;
  }
  show_progress("");
  fmt::print("{} compiled, {} were there, {} failed; kept in {}\n", compiled, kept, failed, kernel_cache().string());
  return failed ? 1 : 0;
}

Json registers_of(const Json& result) {
  Json most;
  for (const Json& launch : result.value("launches", Json::array())) {
    if (most.is_null() || launch.value("registers", 0) > most.value("registers", 0)) most = launch;
  }
  return most;
}

// Runs the cases, in their order; those with the same problem, one after another, share its data and its reference.
// Each result is written before the next case begins.
int run_batch(const BatchOptions& options, const std::string& command) {
  const std::vector<Case> cases = read_cases(options.cases);
  if (options.compile_only) return compile_cases(cases, options);

  const DeviceInfo& device = open_device();
  EvaluateOptions evaluate_options = options.evaluate;
  if (!evaluate_options.time && evaluate_options.timing.back_to_back)
    throw UsageError("--back-to-back times, and --no-time does not");
  if (!device.gpu && evaluate_options.time)
    throw DeviceError("no device to time on: the CPU executor checks and counts with --no-time");
  evaluate_options.count = !device.gpu;
  const auto ceilings = evaluate_options.time ? measure_ceilings() : std::nullopt;
  Results results(options.out, provenance(command, ceilings));

  int status = 0;
  std::size_t ran = 0, there = 0, wrong = 0;
  for (std::size_t begin = 0, end = 0; begin < cases.size(); begin = end) {
    const std::string problem = cases[begin].problem();
    std::vector<Contender> contenders;
    std::vector<const Case*> of;
    for (end = begin; end < cases.size() && cases[end].problem() == problem; ++end) {
      const Case& each = cases[end];
      if (results.has(each)) {
        ++there;
        continue;
      }
      if (each.stage) {
        Contender entered = contender(*each.stage);
        contenders.push_back(each.stage->generated ? with_options(std::move(entered), each.spec.kernel) : entered);
      } else {
        const std::vector<Contender>& libraries = baselines(each.spec.type);
        if (libraries.empty()) continue;  // of the CPU executor
        contenders.push_back(libraries.front());
      }
      of.push_back(&each);
    }
    if (contenders.empty()) continue;
    ProblemSpec spec = cases[begin].spec;
    spec.kernel = {};
    const auto progress = [&](const std::string& what) {
      show_progress(fmt::format("{} of {}: {}x{}x{}: {}", begin + 1, cases.size(), spec.m, spec.n, spec.k, what));
    };
    const auto found = [&] {
      try {
        return evaluate(contenders, spec, evaluate_options, progress);
      } catch (const OutOfDeviceMemory& error) {
        return all_skipped(contenders, spec, error.what());
      }
    }();
    show_progress("");
    bool lost = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Json full = to_json(found[i], ceilings, options.evaluate.timing);
      Json brief = shortened(full);
      brief.erase("problem");
      brief.erase("stage");
      Json line = {{"case", of[i]->json}};
      line.update(brief);
      for (const char* const key : {"gbytes_s", "pct_tensor_roofline", "counts", "predicted"}) {
        if (full.contains(key)) line[key] = full[key];
      }
      const Json launch = registers_of(full);
      for (const char* const key : {"registers", "local_bytes", "dynamic_shared_bytes", "blocks_per_sm"}) {
        if (launch.contains(key)) line[key] = launch[key];
      }
      // What did not run because another had crashed is left for the next time.
      const bool own = !found[i].verdict.device_lost || found[i].verdict.outcome == Outcome::fail;
      if (own) results.append(line);
      ran += own;
      wrong += found[i].verdict.outcome == Outcome::fail;
      if (found[i].verdict.outcome == Outcome::fail)
        fmt::print(stderr, "wrong: {}: {}\n", of[i]->json.dump(), found[i].verdict.reason);
      lost = lost || found[i].verdict.device_lost;
    }
    status = std::max(status, exit_status(found, ceilings, options.evaluate.timing));
    if (lost) {
      fmt::print(stderr, "error: a kernel crashed the device; run this again for the rest\n");
      return 1;
    }
  }
  if (options.out != "-") fmt::print("{} cases run, {} were there, {} wrong\n", ran, there, wrong);
  return status;
}

}  // namespace

void add_batch_command(CLI::App& app, const std::string& command, Action& action) {
  const auto options = std::make_shared<BatchOptions>();
  CLI::App* const self = app.add_subcommand("batch", "many problems, kernels and options from a file, in one process");
  self->add_option("cases", options->cases, "a file of JSON lines (- for standard input)")->required();
  CLI::Option* const out = self->add_option(
      "--out", options->out, "the results, JSON lines; those that it has already are not measured again");
  CLI::Option* const compile_only =
      self->add_flag("--compile-only", options->compile_only, "only fill the cache of kernels");
  compile_only->excludes(out);
  self->add_option("--arch", options->target, "to compile for, such as sm_90a; needs no GPU")->needs(compile_only);
  self->add_option("--part", options->part, "2/4: to compile, the second fourth of the cases")->needs(compile_only);
  EvaluateOptions& evaluate = options->evaluate;
  self->add_flag("!--no-check", evaluate.check, "time only");
  self->add_flag("!--no-exact", evaluate.exact, "check on random data only, not on whole numbers, too");
  self->add_flag("!--no-time", evaluate.time, "check only");
  self->add_flag("--with-library", evaluate.yardstick, "each timed in turns with cuBLAS");
  add_timing_options(*self, evaluate.timing);
  self->callback([options, command, &action] {
    action = [options, command] {
      if (!options->compile_only && options->out.empty()) throw UsageError("--out is needed: where results go");
      if (!options->evaluate.check && !options->evaluate.time)
        throw UsageError("neither check nor time: nothing to do");
      return run_batch(*options, command);
    };
  });
}

}  // namespace gemm

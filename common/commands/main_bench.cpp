// Google Benchmark over all stages: its flags, its JSON; times from CUDA events, cuBLAS alternately with each stage.
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "common/backend/device.hpp"
#include "common/check/contender.hpp"
#include "common/check/workbench.hpp"
#include "common/commands/options.hpp"
#include "common/commands/program.hpp"
#include "common/problem/names.hpp"
#include "common/problem/registry.hpp"
#include "common/problem/shapes.hpp"

namespace {

using namespace gemm;

bool all_right = true;

// Reports an error in the library's own way, which would still end with exit status 0.
void fail(benchmark::State& state, const std::string& reason) {
  all_right = false;
  state.SkipWithError(reason.c_str());
}

// Checks once, then hands each launch's event time to the library, which decides how many it wants. `yardstick` (null:
// none) is timed before each of the contender's turns. `batch`: launches in a turn, 0 until the first run has found it;
// the library's repetitions must all make the same number of launches.
// `back_to_back`: and then without the yardstick or anything else in between.
void run(benchmark::State& state, const Contender& contender, const Contender* yardstick, const ProblemSpec& spec,
         bool back_to_back, int& batch) {
  double own_ms = 0, yardstick_ms = 0, behind_ms = 0;
  DeviceState behind;
  try {
    Workbench bench(spec);
    const Verdict verdict = bench.check(contender);
    if (verdict.outcome != Outcome::pass) {
      if (verdict.outcome == Outcome::fail) return fail(state, verdict.reason);
      state.SkipWithError(verdict.reason.c_str());
      return;
    }
    const Problem problem = bench.problem();
    const Work work = [&] { return contender.launch(problem, nullptr); };
    const Work other = [&] { return yardstick->launch(problem, nullptr); };
    if (yardstick) time_launches(other, 1);
    // About a millisecond at a time: a launch on an idle GPU takes microseconds more than one behind another.
    time_launches(work, 1);
    if (batch == 0) batch = std::clamp(static_cast<int>(3.0 / std::max(time_launches(work, 3), 1e-3)), 1, 500);
    while (state.KeepRunningBatch(batch)) {
      if (yardstick) yardstick_ms += time_launches(other, batch);
      const double ms = time_launches(work, batch);
      own_ms += ms;
      state.SetIterationTime(ms * 1e-3);
    }
    if (back_to_back) {
      const TimingRun timed = time_back_to_back(work, {});
      behind_ms = timed.samples[0].median();
      behind = timed.state;
    }
    if (const Verdict after = bench.inspect(contender); after.outcome != Outcome::pass) fail(state, after.reason);
  } catch (const std::exception& error) {
    return fail(state, error.what());
  }
  using benchmark::Counter;
  state.counters["FLOP/s"] = Counter(spec.flops(), Counter::kIsIterationInvariantRate, Counter::kIs1000);
  state.counters["bytes/s"] = Counter(spec.compulsory_bytes(), Counter::kIsIterationInvariantRate, Counter::kIs1000);
  if (yardstick) state.counters["pct_cublas"] = 100 * yardstick_ms / own_ms;
  if (back_to_back) state.counters["back_to_back_ms"] = behind_ms;
  if (behind.known) {
    state.counters["back_to_back_sm_mhz"] = behind.sm_mhz_min;
    state.counters["back_to_back_watts"] = behind.watts_max;
  }
}

// Stages of one family for one kind of product, and their usual shapes.
struct Kind {
  const char* family;
  Operation op;
  Type type;
  std::vector<std::string> shapes;
};

const std::vector<Kind>& kinds() {
  static const std::vector<std::string> tall = {"4x4x4194304", "16x16x1048576", "64x64x262144"};
  static const std::vector<Kind> all = {
      {"sgemm", Operation::gemm, Type::f32, {"256", "512", "1024", "2048", "4096"}},
      {"tensorcore", Operation::gemm, Type::f32, {"1024", "4096", "8192"}},
      {"tensorcore", Operation::gemm, Type::f16, {"1024", "4096", "8192"}},
      {"tsm", Operation::tsmttsm, Type::f64, tall},
      {"tsm", Operation::tsmttsm, Type::c64, tall},
      {"tsm", Operation::tsmm, Type::f64, tall},
      {"tsm", Operation::tsmm, Type::c64, tall},
  };
  return all;
}

void enter(const Contender& contender, const Contender* yardstick, const Kind& kind, const std::string& shape,
           bool back_to_back) {
  ProblemSpec spec = parse_shape(shape);
  set_kind(spec, kind.op, kind.type);
  spec.validate();
  std::string name = contender.id + "/" + shape;
  if (kind.op != Operation::gemm) name += kind.type == Type::f64 ? "/d" : "/z";
  if (!contender.stage && kind.op != Operation::gemm) name = std::string(operation_name(kind.op)) + "/" + name;
  const auto timed = [=, batch = 0](benchmark::State& state) mutable {
    run(state, contender, yardstick, spec, back_to_back, batch);
  };
  benchmark::RegisterBenchmark(name.c_str(), timed)->UseManualTime()->Unit(benchmark::kMillisecond);
}

// The stages, each alternately with the library, and the libraries by themselves.
void enter_all(const Kind& kind, const std::vector<std::string>& shapes, bool back_to_back) {
  const std::vector<const Stage*> stages = stages_for(kind.op, kind.type, kind.family);
  const std::vector<Contender>& libraries = baselines(kind.type);
  const Contender* const yardstick = libraries.empty() ? nullptr : &libraries.front();
  for (const std::string& shape : shapes) parse_shape(shape);  // before any is entered: it may be none
  for (const Stage* stage : stages) {
    for (const std::string& shape : shapes) enter(contender(*stage), yardstick, kind, shape, back_to_back);
  }
  if (stages.empty()) return;
  for (const Contender& library : libraries) {
    for (const std::string& shape : shapes) enter(library, nullptr, kind, shape, back_to_back);
  }
}

struct BenchOptions {
  std::string family, filter;
  std::vector<std::string> shapes;
  bool back_to_back = false;
};

int bench(const BenchOptions& options, std::vector<std::string> flags) {
  // Named shapes are for one family: 4096 is a cube, and no tall & skinny product.
  const std::string family = !options.family.empty() || options.shapes.empty() ? options.family : "sgemm";
  for (const Kind& kind : kinds()) {
    if (family.empty() || family == kind.family) {
      enter_all(kind, options.shapes.empty() ? kind.shapes : options.shapes, options.back_to_back);
    }
  }
  if (!options.filter.empty()) flags.push_back("--benchmark_filter=" + options.filter);
  std::vector<char*> words;
  for (std::string& flag : flags) words.push_back(flag.data());
  int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  benchmark::Initialize(&count, words.data());
  if (count > 1) throw UsageError("no flag of Google Benchmark's: " + std::string(words[1]));
  const bool only_list = std::ranges::any_of(flags, [](const std::string& flag) {
    return flag.starts_with("--benchmark_list_tests") && !flag.ends_with("=false") && !flag.ends_with("=0");
  });
  if (!only_list) {
    const DeviceInfo& device = open_device();
    if (!device.gpu) throw DeviceError("no device to time on: bench needs a GPU build and a GPU");
    benchmark::AddCustomContext("device", device.name);
    benchmark::AddCustomContext("cuda", device.cuda);
    benchmark::AddCustomContext("cublas", device.cublas);
  }
  if (benchmark::RunSpecifiedBenchmarks() == 0) all_right = false;  // it has said that nothing matches the filter
  benchmark::Shutdown();
  return all_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Stages beside cuBLAS in Google Benchmark, with its flags: --benchmark_list_tests, --benchmark_out=FILE, ...");
  BenchOptions options;
  app.allow_extras();
  app.add_option("--filter", options.filter, "those whose name matches: --benchmark_filter for short");
  app.add_option("--family", options.family, "sgemm, tsm or tensorcore (default: all; with --shapes sgemm)")
      ->check(CLI::IsMember({"sgemm", "tsm", "tensorcore"}));
  app.add_option("--shapes", options.shapes, "N or MxNxK, separated by commas, in place of the usual ones")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--back-to-back", options.back_to_back, "and again with nothing between launches: back_to_back_ms");
  return run_program(app, argc, argv, [&] {
    std::vector<std::string> flags = {argv[0]};
    for (const std::string& flag : app.remaining()) flags.push_back(flag);
    return bench(options, flags);
  });
}

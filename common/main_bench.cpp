// Google Benchmark over the registry: its flags, its JSON; time from CUDA events.
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>

#include "common/device.hpp"
#include "common/evaluate.hpp"
#include "common/options.hpp"

namespace {

using namespace gemm;

bool all_right = true;

// Reports an error in the library's own way, which would still end with exit status 0.
void fail(benchmark::State& state, const std::string& reason) {
  all_right = false;
  state.SkipWithError(reason.c_str());
}

// Checks once, then hands each launch's event time to the library, which decides how many it wants.
void run(benchmark::State& state, const Contender& contender, const ProblemSpec& spec) {
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
    // About a millisecond at a time: a launch on an idle GPU takes microseconds more than one behind another.
    time_launches(work, 1);
    const int batch = std::clamp(static_cast<int>(3.0 / std::max(time_launches(work, 3), 1e-3)), 1, 500);
    while (state.KeepRunningBatch(batch)) state.SetIterationTime(time_launches(work, batch) * 1e-3);
    if (const Verdict after = bench.inspect(contender); after.outcome != Outcome::pass) fail(state, after.reason);
  } catch (const std::exception& error) {
    return fail(state, error.what());
  }
  using benchmark::Counter;
  state.counters["FLOP/s"] = Counter(spec.flops(), Counter::kIsIterationInvariantRate, Counter::kIs1000);
  state.counters["bytes/s"] = Counter(spec.compulsory_bytes(), Counter::kIsIterationInvariantRate, Counter::kIs1000);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto enter = [](const Contender& c, Operation op, Type type, std::initializer_list<const char*> shapes) {
      for (const char* shape : shapes) {
        ProblemSpec spec = parse_shape(shape);
        set_kind(spec, op, type);
        std::string name = c.id + "/" + shape;
        if (op != Operation::gemm) name += type == Type::f64 ? "/d" : "/z";
        if (!c.stage && op != Operation::gemm) name = std::string(operation_name(op)) + "/" + name;
        benchmark::RegisterBenchmark(name.c_str(), [c, spec](benchmark::State& s) { run(s, c, spec); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    };
    const auto enter_all = [&](Operation op, Type type, std::initializer_list<const char*> shapes) {
      bool any = false;
      for (const Stage* stage : stages_for(op, type)) {
        enter(contender(*stage), op, type, shapes);
        any = true;
      }
      if (!any) return;
      for (const Contender& library : baselines(type)) enter(library, op, type, shapes);
    };
    enter_all(Operation::gemm, Type::f32, {"256", "512", "1024", "2048", "4096"});
    enter_all(Operation::gemm, Type::f16, {"1024", "4096", "8192"});
    for (const Operation op : {Operation::tsmttsm, Operation::tsmm}) {
      for (const Type type : {Type::f64, Type::c64})
        enter_all(op, type, {"4x4x4194304", "16x16x1048576", "64x64x262144"});
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    const DeviceInfo& device = open_device();
    if (!device.gpu) throw DeviceError("no device to time on: bench needs a GPU build and a GPU");
    benchmark::AddCustomContext("device", device.name);
    benchmark::AddCustomContext("cuda", device.cuda);
    benchmark::AddCustomContext("cublas", device.cublas);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return all_right ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}

// What only a GPU can show: cuBLAS as yardstick, timing, ceilings.
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "common/problem/shapes.hpp"
#include "common/problem/spec.hpp"
#include "common/report/json.hpp"
#include "common/report/result_json.hpp"
#include "common/report/verdict.hpp"
#include "tests/device_test.hpp"

namespace gemm {
namespace {

class Gpu : public DeviceTest {};

TEST_F(Gpu, CublasIsRightOnRectanglesAndPadding) {
  ASSERT_EQ(baselines().front().id, "cublas/fp32_pedantic");
  for (const ProblemSpec& spec : {box(33, 65, 17), box(1, 7, 5), box(200, 3, 1000), box(300, 500, 700),
                                  awkward(131, 257, 67), awkward(64, 1, 9)}) {
    for (const Result& result : evaluate(baselines(), spec, check_only(), {})) {
      EXPECT_EQ(result.verdict.outcome, Outcome::pass)
          << result.id << " on " << describe(spec) << ": " << result.verdict.reason;
    }
  }
}

TEST_F(Gpu, CorrectFp32StaysWellInsideTheBoundAtEveryCalibratedSize) {
  EvaluateOptions options = check_only();
  options.exact = false;
  for (const std::string& shape : calibration_shapes()) {
    std::vector<Contender> contenders = {baselines().front(), contender(find_stage("04"))};
    for (const Result& result : evaluate(contenders, parse_shape(shape), options, {})) {
      EXPECT_EQ(result.verdict.outcome, Outcome::pass) << shape << ": " << result.verdict.reason;
      const double margin = std::max(result.verdict.error.max_ratio, result.verdict.error.frobenius_ratio);
      EXPECT_LT(margin, 0.5) << result.id << " at " << shape;
      std::printf("%-16s %-24s element %8.3g  Frobenius %8.3g  times the bound\n", shape.c_str(), result.id.c_str(),
                  result.verdict.error.max_ratio, result.verdict.error.frobenius_ratio);
    }
  }
}

TEST_F(Gpu, CeilingsArePlausible) {
  const Ceilings c = *measure_ceilings();
  EXPECT_GT(c.read_gbs, 50);
  EXPECT_GT(c.copy_gbs, 50);
  EXPECT_LT(c.copy_gbs, 1.3 * c.read_gbs);
  EXPECT_GT(c.ffma_gflops, 500);
  EXPECT_GT(c.hfma_gflops, 0.9 * c.ffma_gflops);
  EXPECT_GT(c.shared_gbs, c.read_gbs);
  EXPECT_GT(c.launch_us, 0.5);
  EXPECT_LT(c.launch_us, 50);
}

TEST_F(Gpu, TimesInTurnsAndChecksTheLastSample) {
  EvaluateOptions options;
  options.timing.seconds = 0.02;
  const Result result = evaluate({contender(find_stage("02"))}, cube(512), options, {})[0];
  ASSERT_EQ(result.verdict.outcome, Outcome::pass) << result.verdict.reason;
  ASSERT_TRUE(result.timed && result.timed->yardstick);
  EXPECT_GE(result.timed->own.ms.size(), 5u);
  EXPECT_EQ(result.timed->own.ms.size(), result.timed->yardstick->ms.size());
  EXPECT_GT(result.timed->own.min(), 0);
  EXPECT_LE(result.timed->own.min(), result.timed->own.median());
  EXPECT_GT(*result.percent_of_yardstick(), 1);
  EXPECT_LT(*result.percent_of_yardstick(), 100);
}

// A kernel that cheats only while it is timed: the second check must see it.
TEST_F(Gpu, WorkLeftOutWhileTimingIsFound) {
  int calls = 0;
  const Stage& honest = find_stage("04");
  const Contender lazy{"lazy", Accuracy::fp32, [&](const SgemmProblem& p, cudaStream_t s) {
                         return ++calls > 2 ? Status::ok() : honest.launch(p, s);  // two checks, then nothing
                       }};
  EvaluateOptions options;
  options.timing.seconds = 0.01;
  const Result result = evaluate({lazy}, cube(256), options, {})[0];
  EXPECT_EQ(result.verdict.outcome, Outcome::fail);
  EXPECT_NE(result.verdict.reason.find("after timing"), std::string::npos) << result.verdict.reason;
  EXPECT_FALSE(result.timed) << "a failed check prints no speed";
  EXPECT_FALSE(to_json(result, std::nullopt, {}).contains("gflops"));
}

// The first launch of a library or a kernel may take milliseconds: it must not pass for the time of each.
TEST_F(Gpu, SlowFirstLaunchDoesNotDecideTheGroups) {
  bool first = true;
  const Stage& stage = find_stage("04");
  Workbench bench(cube(256));
  const Work work = [&] {
    if (std::exchange(first, false)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return stage.launch(bench.problem(), nullptr);
  };
  const TimingRun run = time_in_turns({work}, {}, {});
  EXPECT_GT(run.samples[0].launches_per_sample, 10);
  EXPECT_GT(run.samples[0].ms.size(), 20u);
}

TEST_F(Gpu, BetaIsCheckedAfterTimingToo) {
  EvaluateOptions options;
  options.timing.seconds = 0.01;
  const Result result = evaluate({contender(find_stage("04"))}, awkward(131, 257, 67), options, {})[0];
  EXPECT_EQ(result.verdict.outcome, Outcome::pass) << result.verdict.reason;
  EXPECT_TRUE(result.timed);
}

TEST_F(Gpu, ColdCacheStaysBelowTheRoofline) {
  EvaluateOptions options;
  options.timing.cold = true;
  options.timing.seconds = 0.05;
  // Bound by memory, and small enough to live in the L2: warm it may pass the memory's roofline, cold it must not.
  for (const Result& result :
       evaluate({baselines().front(), contender(find_stage("02"))}, box(2048, 2048, 4), options, {})) {
    ASSERT_EQ(result.verdict.outcome, Outcome::pass);
    EXPECT_EQ(implausible(result, measure_ceilings(), options.timing), "");
    EXPECT_EQ(result.timed->own.launches_per_sample, 1);
  }
}

TEST_F(Gpu, KernelResourcesAreKnown) {
  const Result result = evaluate({contender(find_stage("04"))}, cube(64), check_only(), {})[0];
  const auto resources = kernel_resources(result.verdict.launches.at(0).kernel);
  ASSERT_TRUE(resources);
  EXPECT_GT(resources->registers, 10);
  EXPECT_EQ(resources->spill_bytes, 0);
  EXPECT_EQ(resources->static_shared, 2 * 32 * 32 * 4);
}

}  // namespace
}  // namespace gemm

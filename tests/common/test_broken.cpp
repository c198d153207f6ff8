// The checker must reject every stage that is broken on purpose, and say why.
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "common/problem/shapes.hpp"
#include "common/report/files.hpp"
#include "common/report/json.hpp"
#include "common/report/provenance.hpp"
#include "tests/device_test.hpp"

namespace gemm {
namespace {

class Broken : public DeviceTest {};

// What ./lab ladder checks: something that fits the tiles and something that does not. More blocks than a GPU holds, so
// that a missing barrier meets warps that are out of step.
std::vector<ProblemSpec> problems() {
  std::vector<ProblemSpec> all = {cube(open_device().gpu ? 1024 : 128), awkward(131, 257, 67)};
  ProblemSpec alpha_zero = awkward(40, 50, 60);
  alpha_zero.alpha = 0;
  all.push_back(alpha_zero);
  return all;
}

TEST_F(Broken, EveryOneIsRejectedForItsOwnReason) {
  // The CPU executor sees what the kernel does, a GPU what comes of it.
  const auto seen_as = [](const char* executor, const char* gpu) { return open_device().gpu ? gpu : executor; };
  const char* const race = seen_as("data race in shared memory", "should be");
  const std::map<std::string, std::string> expected = {
      {"broken/01_missing_barrier", race},
      {"broken/02_missing_second_barrier", race},
      {"broken/03_swapped_index", "should be"},
      {"broken/04_dropped_k_tail", "should be"},
      {"broken/05_dropped_k", "should be"},
      {"broken/06_nan", "is nan"},
      {"broken/07_reads_c", seen_as("beta is 0, so C must not be read", "is nan")},
      {"broken/08_reads_a_and_b", seen_as("alpha is 0, so the factors must not be read", "is nan")},
      {"broken/09_wrong_leading_dimension", seen_as("A(0, 67), and A has 67 columns", "should be")},
      {"broken/10_off_by_one", seen_as("and C has 257 columns", "outside C")},
      {"broken/11_half_precision", "[random data]"},
      {"broken/12_changes_input", "changed its inputs"},
      {"broken/13_stale_output", "never written"},
      {"broken/14_launch_failure", seen_as("launch beyond a limit", "never written")},
      {"broken/15_launch_refused", "launch failed"},
  };
  std::size_t seen = 0;
  for (const Stage& stage : stages()) {
    ASSERT_TRUE(stage.id.starts_with("broken/")) << stage.id << " does not belong into this program";
    SCOPED_TRACE(stage.id);
    ASSERT_TRUE(expected.contains(stage.id));
    ++seen;
    std::string reasons;
    for (const ProblemSpec& spec : problems()) {
      const Result result = evaluate({contender(stage)}, spec, check_only(), {})[0];
      if (result.verdict.outcome == Outcome::fail) reasons += result.verdict.reason + "\n";
    }
    EXPECT_FALSE(reasons.empty()) << "was accepted";
    EXPECT_NE(reasons.find(expected.at(stage.id)), std::string::npos) << "rejected, but for this:\n" << reasons;
  }
  EXPECT_EQ(seen, expected.size());
}

// The bound must tell right from wrong at every size that is timed: random data alone, without the help of whole
// numbers. On the CPU, K is what matters to the bound and M and N are cut to what it can do.
TEST_F(Broken, BoundRejectsCoarseArithmeticAndASingleDroppedProductAtEveryCalibratedSize) {
  EvaluateOptions options = check_only();
  options.exact = false;
  Json calibration = provenance("test_broken", std::nullopt);
  for (const std::string& shape : calibration_shapes()) {
    ProblemSpec spec = parse_shape(shape);
    if (!open_device().gpu) spec = box(std::min(spec.m, 48), std::min(spec.n, 48), spec.k);
    SCOPED_TRACE(shape);
    std::vector<Contender> contenders = {contender(find_stage("broken/05")), contender(find_stage("broken/11"))};
    for (const Contender& library : baselines()) {
      if (library.accuracy == Accuracy::fp32) continue;
      Contender boasting = library;  // TF32 that claims to be FP32
      boasting.accuracy = Accuracy::fp32;
      contenders.push_back(boasting);
    }
    for (const Result& result : evaluate(contenders, spec, options, {})) {
      EXPECT_EQ(result.verdict.outcome, Outcome::fail) << result.id;
      const double margin = std::max(result.verdict.error.max_ratio, result.verdict.error.frobenius_ratio);
      EXPECT_GT(margin, 2.0) << result.id << " was rejected by a hair";
      std::printf("%-16s %-24s element %8.3g  Frobenius %8.3g  times the bound\n", shape.c_str(), result.id.c_str(),
                  result.verdict.error.max_ratio, result.verdict.error.frobenius_ratio);
      calibration["rejected"][shape][result.id] = {{"max_ratio", result.verdict.error.max_ratio},
                                                   {"frobenius_ratio", result.verdict.error.frobenius_ratio}};
    }
  }
  // docs/measurements/measure keeps these figures for docs/concepts/checking.md.
  if (const char* directory = std::getenv("GEMM_CALIBRATION")) {
    write_text(std::string(directory) + "/calibration.json", calibration.dump(1) + "\n");
  }
}

}  // namespace
}  // namespace gemm

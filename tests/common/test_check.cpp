// The judge judged: data, traps, reference against an independent oracle, comparison.
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/check/compare.hpp"
#include "common/check/contender.hpp"
#include "common/check/matrix.hpp"
#include "common/check/reference.hpp"
#include "common/check/workbench.hpp"
#include "common/problem/names.hpp"
#include "common/problem/shapes.hpp"
#include "common/problem/spec.hpp"
#include "common/report/json.hpp"
#include "common/report/result_json.hpp"
#include "common/report/table.hpp"
#include "common/report/verdict.hpp"
#include "tests/device_test.hpp"

namespace gemm {
namespace {

class Check : public DeviceTest {};

std::vector<float> elements_of(const float* device, std::int64_t ld, int rows, int cols) {
  std::vector<float> host(static_cast<std::size_t>(rows) * cols);
  for (int r = 0; r < rows; ++r) {
    check_cuda(cudaMemcpy(host.data() + static_cast<std::size_t>(r) * cols, device + r * ld, cols * sizeof(float),
                          cudaMemcpyDeviceToHost),
               "copy");
  }
  return host;
}

void poke(float* device, float value) {
  check_cuda(cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice), "copy");
}

TEST_F(Check, GeneratorsKeepTheirPromises) {
  constexpr int count = 20000;
  for (const auto d : {Distribution::uniform, Distribution::positive, Distribution::normal, Distribution::integers,
                       Distribution::wide, Distribution::tiny, Distribution::huge}) {
    SCOPED_TRACE(distribution_name(d));
    const Generator generator{d, 7, 5};
    const Generator other_seed{d, 8, 5};
    double sum = 0, sum2 = 0, least = INFINITY, most = -INFINITY;
    int same = 0;
    for (int i = 0; i < count; ++i) {
      const double x = generator(i);
      ASSERT_TRUE(std::isfinite(x));
      if (d == Distribution::integers) {
        ASSERT_EQ(x, std::round(x));
      }
      sum += x, sum2 += x * x, least = std::min(least, x), most = std::max(most, x);
      same += x == other_seed(i);
    }
    EXPECT_LT(same, d == Distribution::integers ? count / 5 : count / 100) << "the seed makes no difference";
    const double mean = sum / count, variance = sum2 / count - mean * mean;
    // What each promises of {least, most} and of {mean, variance}.
    struct Promise {
      double least, most, mean, variance;
    };
    const Promise promise = d == Distribution::uniform    ? Promise{-1, 1, 0, 1 / 3.0}
                            : d == Distribution::positive ? Promise{0, 1, 0.5, 1 / 12.0}
                            : d == Distribution::normal   ? Promise{-6, 6, 0, 1}
                            : d == Distribution::integers ? Promise{-5, 5, 0, 10}
                            : d == Distribution::wide     ? Promise{-0x1p16, 0x1p16, NAN, NAN}
                            : d == Distribution::tiny     ? Promise{-0x1p-40, 0x1p-40, 0, 0x1p-80 / 3}
                                                          : Promise{-0x1p50, 0x1p50, 0, 0x1p100 / 3};
    const double width = promise.most - promise.least;
    EXPECT_GE(least, promise.least);
    EXPECT_LE(most, promise.most);
    EXPECT_LT(least, promise.least + 0.25 * width) << "the low end is never reached";
    EXPECT_GT(most, promise.most - 0.25 * width) << "the high end is never reached";
    if (!std::isnan(promise.mean)) {
      EXPECT_NEAR(mean, promise.mean, 0.02 * width);
      EXPECT_NEAR(variance / promise.variance, 1, 0.05);
    }
  }
}

TEST_F(Check, DeviceAndHostGenerateTheSame) {
  Matrix matrix(7, 9, 11, 3);
  const Generator generator{Distribution::uniform, 3};
  matrix.fill(generator);
  const auto host = elements_of(matrix.data(), 11, 7, 9);
  for (int i = 0; i < 63; ++i) EXPECT_EQ(host[i], generator(i)) << i;
}

TEST_F(Check, TrapsCatchEveryStrayWrite) {
  Matrix matrix(5, 6, 8, 2);
  matrix.fill({});
  EXPECT_EQ(matrix.damaged_words(), 0);
  poke(matrix.data() + 2 * 8 + 5, 1.0f);  // an element: allowed
  EXPECT_EQ(matrix.damaged_words(), 0);
  int expected = 0;
  for (const int stray : {6, 7, -1, -1000, 5 * 8 - 1, 5 * 8, 5 * 8 + 900}) {
    poke(matrix.data() + stray, 1.0f);
    EXPECT_EQ(matrix.damaged_words(), ++expected) << stray;
  }
}

TEST_F(Check, FingerprintSeesAnyChange) {
  Matrix matrix(5, 6, 8, 0);
  matrix.fill({});
  const auto before = matrix.fingerprint();
  const auto host = elements_of(matrix.data(), 8, 5, 6);
  EXPECT_EQ(matrix.fingerprint(), before);
  poke(matrix.data(), host[1]);
  poke(matrix.data() + 1, host[0]);  // swapped: the same words in other places
  EXPECT_NE(matrix.fingerprint(), before);
  poke(matrix.data(), host[0]);
  poke(matrix.data() + 1, host[1]);
  EXPECT_EQ(matrix.fingerprint(), before);
  poke(matrix.data() + 6, 0.0f);  // padding counts, too
  EXPECT_NE(matrix.fingerprint(), before);
}

TEST_F(Check, OutOfMemoryIsAClearError) {
  EXPECT_THROW(Workbench(box(2000000, 2000000, 1)), DeviceError);
  EXPECT_THROW(Workbench(box(2147483647, 1, 2147483647)), DeviceError) << "2^62 elements";
  EXPECT_NO_THROW(Workbench(cube(8))) << "and the next allocation works";
}

// The reference against sums in long double on the host, on rectangular, padded, misaligned problems.
TEST_F(Check, ReferenceAgreesWithAnOracle) {
  for (const ProblemSpec& spec :
       {box(1, 1, 1), box(3, 5, 7), box(40, 3, 100), box(17, 33, 16), awkward(33, 18, 65), box(4, 4, 0), [] {
          auto s = awkward(9, 12, 10);
          s.alpha = 0;
          return s;
        }()}) {
    SCOPED_TRACE(describe(spec));
    Workbench bench(spec);
    const SgemmProblem p = bench.problem();
    const auto a = elements_of(p.a, p.lda, spec.m, spec.k);
    const auto b = elements_of(p.b, p.ldb, spec.k, spec.n);
    const auto c = elements_of(p.c, p.ldc, spec.m, spec.n);
    const Reference reference = compute_reference(p);
    const auto c64 = reference.c.to_host();
    const auto magnitude = reference.magnitude.to_host();
    for (int i = 0; i < spec.m; ++i) {
      for (int j = 0; j < spec.n; ++j) {
        long double sum = 0, absolute = 0;
        for (int l = 0; l < (spec.alpha == 0 ? 0 : spec.k); ++l) {
          const long double product = static_cast<long double>(a[i * spec.k + l]) * b[l * spec.n + j];
          sum += product;
          absolute += std::abs(product);
        }
        const long double old = spec.beta == 0 ? 0.0L : static_cast<long double>(spec.beta) * c[i * spec.n + j];
        const double expected = static_cast<double>(spec.alpha * sum + old);
        const double scale = static_cast<double>(std::abs(spec.alpha) * absolute + std::abs(old));
        ASSERT_NEAR(c64[i * spec.n + j], expected, 1e-15 * (scale + 1e-300) * (spec.k + 2));
        ASSERT_NEAR(magnitude[i * spec.n + j], scale, 1e-15 * (scale + 1e-300) * (spec.k + 2));
      }
    }
  }
}

// Writes the reference, rounded, into C, so that single elements can then be spoilt.
void write_reference(const SgemmProblem& p, const Reference& reference) {
  const auto c64 = reference.c.to_host();
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) poke(p.c + i * p.ldc + j, static_cast<float>(c64[i * p.n + j]));
  }
}

TEST_F(Check, ComparisonFindsOneWrongElement) {
  Workbench bench(awkward(20, 30, 40));
  const SgemmProblem p = bench.problem();
  const Reference reference = compute_reference(p);
  write_reference(p, reference);
  EXPECT_TRUE(compare(p, reference, Accuracy::fp32, false).passed());

  const double right = reference.c.to_host()[13 * 30 + 17];
  const double bound = tolerance(Accuracy::fp32, 40) * reference.magnitude.to_host()[13 * 30 + 17];
  float* const element = p.c + 13 * p.ldc + 17;
  const auto verdict_for = [&](double value) {
    poke(element, static_cast<float>(value));
    return compare(p, reference, Accuracy::fp32, false);
  };
  EXPECT_TRUE(verdict_for(right + 0.9 * bound).passed());
  const Comparison wrong = verdict_for(right + 1.1 * bound);
  EXPECT_FALSE(wrong.passed());
  EXPECT_EQ(wrong.wrong, 1);
  EXPECT_EQ(wrong.worst_row, 13);
  EXPECT_EQ(wrong.worst_col, 17);
  EXPECT_NEAR(wrong.max_ratio, 1.1, 0.05);
  EXPECT_NEAR(wrong.max_of_magnitudes, 1.1 * tolerance(Accuracy::fp32, 40), 0.05 * tolerance(Accuracy::fp32, 40));
  EXPECT_GE(wrong.max_relative, 0.99 * 1.1 * bound / std::fabs(right));
  EXPECT_GT(wrong.residual, 0);
  EXPECT_LT(wrong.residual, wrong.max_relative);
  EXPECT_FALSE(verdict_for(NAN).passed());
  EXPECT_TRUE(std::isinf(verdict_for(NAN).max_relative));
  EXPECT_TRUE(std::isnan(verdict_for(NAN).residual));
  EXPECT_FALSE(verdict_for(INFINITY).passed());
  EXPECT_FALSE(verdict_for(-INFINITY).passed());
  EXPECT_EQ(verdict_for(right).wrong, 0);
}

TEST_F(Check, ComparisonTellsUnwrittenElements) {
  Workbench bench(box(8, 8, 8));
  bench.reset_output();
  const SgemmProblem p = bench.problem();
  const Reference reference = compute_reference(p);
  EXPECT_EQ(compare(p, reference, Accuracy::fp32, false).unwritten, 64);
  write_reference(p, reference);
  EXPECT_EQ(compare(p, reference, Accuracy::fp32, false).unwritten, 0);
}

TEST_F(Check, IntegersMustBeExact) {
  Workbench bench(with_exact_integers(box(16, 16, 300)));
  const SgemmProblem p = bench.problem();
  const Reference reference = compute_reference(p);
  write_reference(p, reference);
  EXPECT_TRUE(compare(p, reference, Accuracy::fp32, true).passed());
  const double right = reference.c.to_host()[0];
  poke(p.c, std::nextafter(static_cast<float>(right), 1e9f));  // within any bound, and still wrong
  EXPECT_TRUE(compare(p, reference, Accuracy::fp32, false).passed());
  EXPECT_FALSE(compare(p, reference, Accuracy::fp32, true).passed());
}

TEST_F(Check, IntegersStayExactAtEveryStandardDepth) {
  // On the CPU the deepest would take minutes.
  for (const std::string& shape : open_device().gpu ? standard_shapes() : calibration_shapes()) {
    SCOPED_TRACE(shape);
    ProblemSpec spec = with_exact_integers(box(16, 16, parse_shape(shape).k));
    Workbench bench(spec);
    const Reference reference = compute_reference(bench.problem());
    EXPECT_LT(compare(bench.problem(), reference, Accuracy::fp32, true).largest, 0x1p22);
  }
}

TEST_F(Check, JsonHoldsWhatTheDesignPromises) {
  const auto results = evaluate({contender(stages().front())}, awkward(10, 20, 30), check_only(), {});
  const Json json = to_json(results[0], std::nullopt, {});
  EXPECT_EQ(json["stage"], stages().front().id);
  EXPECT_EQ(json["family"], "sgemm");
  EXPECT_EQ(json["status"], "pass") << json.dump(1);
  EXPECT_EQ(json["problem"]["m"], 10);
  EXPECT_EQ(json["problem"]["lda"], 33);
  EXPECT_EQ(json["problem"]["beta"], -0.5);
  EXPECT_LE(json["error"]["max_ratio"].get<double>(), 1.0);
  EXPECT_GE(json["error"]["max_relative"].get<double>(), json["error"]["frobenius"].get<double>());
  EXPECT_TRUE(json.contains("device"));
  EXPECT_FALSE(json.contains("gflops")) << "not timed";
  EXPECT_EQ(json["launches"][0]["block"][0], 32);

  Result unchecked = results[0];
  unchecked.checked = false;
  EXPECT_EQ(to_json(unchecked, std::nullopt, {})["status"], "unchecked");
}

TEST_F(Check, WhatIsTooSlowForTheBudgetIsNotLaunched) {
  int launches = 0;
  const Contender slow{"slow", Accuracy::fp32, [&](const SgemmProblem&, cudaStream_t) {
                         ++launches;
                         return Status::ok();
                       }};
  EvaluateOptions options;
  options.budget_ms = 300;
  options.estimate_ms = [](const Contender&) { return 2200.0; };
  const auto results = evaluate({slow}, cube(16), options, {});
  EXPECT_EQ(results[0].verdict.outcome, Outcome::skip);
  EXPECT_EQ(results[0].verdict.reason, "would take about 2.2 s, the budget is 300 ms");
  EXPECT_EQ(launches, 0);

  options.time = false;  // a check has no budget
  EXPECT_EQ(evaluate({slow}, cube(16), options, {})[0].verdict.outcome, Outcome::fail);
  EXPECT_EQ(launches, 1);
}

TEST_F(Check, ShortenedJsonKeepsWhatAPlotNeeds) {
  const auto results = evaluate({contender(stages().front())}, awkward(10, 20, 30), check_only(), {});
  const Json full = to_json(results[0], std::nullopt, {}), brief = shortened(full);
  EXPECT_EQ(brief["problem"], (Json{{"m", 10}, {"n", 20}, {"k", 30}}));
  EXPECT_EQ(brief["error"]["max_ratio"], full["error"]["max_ratio"]);
  EXPECT_FALSE(brief.contains("launches") || brief.contains("reason"));
  EXPECT_EQ(Json::parse(report_text({{"device", "x"}, {"results", {full, brief}}}))["results"][1], brief);
}

TEST_F(Check, StageForANewerDeviceIsSkipped) {
  Stage stage = stages().front();
  stage.min_compute_capability = 9999;
  const auto results = evaluate({contender(stage)}, cube(16), check_only(), {});
  // The executor has no compute capability: what it can compile it can run.
  EXPECT_EQ(results[0].verdict.outcome, open_device().gpu ? Outcome::skip : Outcome::pass);

  const Contender unsupported{"x/y", Accuracy::fp32,
                              [](const SgemmProblem&, cudaStream_t) { return Status::unsupported("no"); }};
  const auto skipped = evaluate({unsupported}, cube(16), check_only(), {});
  EXPECT_EQ(skipped[0].verdict.outcome, Outcome::skip);
  EXPECT_EQ(skipped[0].verdict.reason, "no");
  EXPECT_FALSE(to_json(skipped[0], std::nullopt, {}).contains("error")) << "nothing was compared";
  EXPECT_EQ(exit_status(skipped), 0);
}

// A stage may take long to say how much it needs, and launches are timed.
TEST_F(Check, WorkspaceIsAskedForOnceForAProblem) {
  static int asked;
  asked = 0;
  void* workspace = nullptr;
  Stage stage;
  stage.workspace_bytes = [](const Problem& p) {
    ++asked;
    return static_cast<std::size_t>(p.m);
  };
  stage.launch = [&](const Problem& p, cudaStream_t) {
    workspace = p.workspace;
    return Status::ok();
  };
  const Contender its = contender(stage);
  Problem problem;
  problem.m = 1000;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(its.launch(problem, nullptr));
  EXPECT_EQ(asked, 1);
  problem.m = 100'000;
  ASSERT_TRUE(its.launch(problem, nullptr));
  EXPECT_EQ(asked, 2);
  check_cuda(cudaMemset(workspace, 0, 100'000), "write all of it");
  void* const larger = workspace;
  problem.m = 1000;
  ASSERT_TRUE(its.launch(problem, nullptr));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(workspace, larger);
}

// A made-up time, since the executor has none: both ways of timing in the JSON, the short one, too, and in the table.
TEST_F(Check, BackToBackStandsBesideTheAlternatingTime) {
  Result result = evaluate({contender(find_stage("02"))}, cube(64), check_only(), {})[0];
  result.timed.emplace();
  result.timed->own.ms = {0.5};
  EXPECT_EQ(table({result}, std::nullopt, false).find("back to back"), std::string::npos);
  EXPECT_FALSE(to_json(result, std::nullopt, {}).contains("back_to_back"));
  result.timed->back_to_back.emplace().ms = {0.25, 0.5, 1};
  result.timed->back_to_back_state = {.known = true, .sm_mhz_min = 1500, .sm_mhz_max = 1980, .watts_max = 700};
  const Json full = to_json(result, std::nullopt, {}), brief = shortened(full);
  for (const Json& json : {full, brief}) {
    EXPECT_EQ(json["back_to_back"]["time_ms"]["median"], 0.5);
    EXPECT_EQ(json["back_to_back"]["state"]["sm_mhz_min"], 1500);
    EXPECT_EQ(json["back_to_back"]["gflops"], json["gflops"]);
  }
  EXPECT_NE(table({result}, std::nullopt, false).find("back to back"), std::string::npos);
}

}  // namespace
}  // namespace gemm

// FP16 operands in the harness: data, reference, bounds, what is rejected, and cuBLAS.
#include <cmath>
#include <set>

#include "common/backend/device_memory.hpp"
#include "common/commands/options.hpp"
#include "common/problem/spec.hpp"
#include "tests/device_test.hpp"
#include "tests/stages/hgemm_kernels.hpp"

namespace gemm {
namespace {

class Hgemm : public DeviceTest {};

ProblemSpec half(ProblemSpec spec) {
  spec.type = Type::f16;
  return spec;
}

Contender plain(HgemmFlaw flaw, Accuracy accuracy = Accuracy::fp32) {
  return {"plain", accuracy, [flaw](const HgemmProblem& p, cudaStream_t s) { return launch_plain_hgemm(p, flaw, s); }};
}

Result evaluated(const Contender& contender, const ProblemSpec& spec, bool exact = true) {
  EvaluateOptions options = check_only();
  options.exact = exact;
  return evaluate({contender}, spec, options, {})[0];
}

TEST_F(Hgemm, PlainKernelIsRight) {
  ProblemSpec nothing = half(awkward(9, 12, 10));
  nothing.alpha = 0;
  for (const ProblemSpec& spec : {half(box(1, 1, 1)), half(box(40, 3, 100)), half(awkward(33, 18, 65)),
                                  half(box(5, 6, 0)), half(box(8, 8, 4096)), half(box(0, 4, 4)), nothing}) {
    for (const auto distribution : {Distribution::uniform, Distribution::normal, Distribution::wide}) {
      ProblemSpec its = spec;
      its.distribution = distribution;
      const Result result = evaluated(plain(HgemmFlaw::none), its);
      EXPECT_EQ(result.verdict.outcome, Outcome::pass) << describe(its) << ": " << result.verdict.reason;
    }
  }
}

// A and B have FP16 numbers, not floats cut in half somewhere; and the reference is their product.
TEST_F(Hgemm, ReferenceAgreesWithAnOracle) {
  for (const ProblemSpec& spec : {half(box(3, 5, 7)), half(awkward(17, 18, 65)), half(box(4, 4, 0))}) {
    Workbench bench(spec);
    const HgemmProblem p = bench.problem();
    const auto elements = [](const auto* from, std::int64_t ld, int rows, int cols) {
      std::vector<double> all;
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; ++j) {
          std::remove_cvref_t<decltype(*from)> x;
          check_cuda(cudaMemcpy(&x, from + i * ld + j, sizeof x, cudaMemcpyDeviceToHost), "read");
          all.push_back(static_cast<float>(x));
        }
      }
      return all;
    };
    const auto a = elements(p.a, p.lda, spec.m, spec.k), b = elements(p.b, p.ldb, spec.k, spec.n);
    const auto c = spec.beta == 0 ? std::vector<double>(spec.m * spec.n) : elements(p.c, p.ldc, spec.m, spec.n);
    if (spec.k > 0) {
      EXPECT_GT(std::set<double>(a.begin(), a.end()).size(), a.size() / 2) << "hardly any two are the same";
    }
    const auto c64 = compute_reference(p).c.to_host();
    for (int i = 0; i < spec.m; ++i) {
      for (int j = 0; j < spec.n; ++j) {
        double sum = 0;
        for (int l = 0; l < spec.k; ++l) sum += a[i * spec.k + l] * b[l * spec.n + j];
        const double expected = spec.alpha * sum + spec.beta * c[i * spec.n + j];
        ASSERT_NEAR(c64[i * spec.n + j], expected, 1e-13 * (spec.k + 1));
      }
    }
  }
}

TEST_F(Hgemm, FlawsAreRejected) {
  const std::pair<HgemmFlaw, const char*> flaws[] = {
      {HgemmFlaw::half_sums, "times its bound"},
      {HgemmFlaw::half_result, "times its bound"},
      {HgemmFlaw::dropped_k, "times its bound"},
      {HgemmFlaw::swapped, "times its bound"},
      {HgemmFlaw::changes_input, open_device().gpu ? "changed its inputs" : "A(0, 300), and A has 300 columns"},
      {HgemmFlaw::past_the_end, open_device().gpu ? "outside C" : "and C has 20 columns"}};
  for (const auto& [flaw, reason] : flaws) {
    for (const Accuracy accuracy : {Accuracy::fp32, Accuracy::tensor_fp32}) {
      // Random data alone: the bound must tell, without the help of whole numbers.
      const Result result = evaluated(plain(flaw, accuracy), half(awkward(33, 20, 300)), false);
      EXPECT_EQ(result.verdict.outcome, Outcome::fail) << "flaw " << static_cast<int>(flaw);
      EXPECT_NE(result.verdict.reason.find(reason), std::string::npos) << result.verdict.reason;
    }
  }
}

// Why Tensor Cores have an accuracy of their own: cutting off loses half a unit each time, always to the same side.
TEST_F(Hgemm, CutSumsAreATensorCoresAndNotFp32) {
  ProblemSpec spec = half(box(2, 2, 65536));
  spec.distribution = Distribution::positive;
  EXPECT_EQ(evaluated(plain(HgemmFlaw::none), spec, false).verdict.outcome, Outcome::pass);
  EXPECT_EQ(evaluated(plain(HgemmFlaw::cut_sums), spec, false).verdict.outcome, Outcome::fail);
  const Result allowed = evaluated(plain(HgemmFlaw::cut_sums, Accuracy::tensor_fp32), spec, false);
  EXPECT_EQ(allowed.verdict.outcome, Outcome::pass) << allowed.verdict.reason;
}

TEST_F(Hgemm, BadProblemsAreRefused) {
  const auto refused = [](ProblemSpec spec) { EXPECT_THROW(half(spec).validate(), UsageError); };
  for (const auto distribution : {Distribution::tiny, Distribution::huge}) {
    ProblemSpec spec = box(4, 4, 4);
    spec.distribution = distribution;
    refused(spec);
  }
  ProblemSpec large = box(4, 4, 4);
  large.alpha = 1e39;
  refused(large);
  ProblemSpec spec;
  EXPECT_THROW(set_kind(spec, Operation::tsmm, Type::f16), UsageError);
  EXPECT_NO_THROW(set_kind(spec, Operation::gemm, Type::f16));
}

TEST_F(Hgemm, BytesAreTwoOfOperandsAndFourOfTheResult) {
  ProblemSpec spec = half(box(3, 5, 7));
  EXPECT_EQ(spec.compulsory_bytes(), 2 * (3 * 7 + 7 * 5) + 4 * 3 * 5);
  spec.beta = 1;
  EXPECT_EQ(spec.compulsory_bytes(), 2 * (3 * 7 + 7 * 5) + 8 * 3 * 5);
}

TEST_F(Hgemm, CublasIsRight) {
  if (!open_device().gpu) GTEST_SKIP() << "cuBLAS needs a GPU";
  for (const ProblemSpec& spec : {half(box(96, 160, 224)), half(awkward(67, 131, 35)), half(box(256, 64, 16384))}) {
    const Result result = evaluated(baselines(Type::f16).front(), spec);
    EXPECT_EQ(result.verdict.outcome, Outcome::pass) << describe(spec) << ": " << result.verdict.reason;
  }
}

TEST_F(Hgemm, CeilingsAreThoseOfTensorCores) {
  const auto ceilings = measure_ceilings();
  if (!ceilings || open_device().compute_capability < 80) GTEST_SKIP() << "no such instructions";
  EXPECT_GT(ceilings->hmma_gflops, 2 * ceilings->ffma_gflops);
  EXPECT_GT(ceilings->hmma_gflops, 1.5 * ceilings->tmma_gflops);
  const Floor floor = problem_floor(half(box(8192, 8192, 8192)), *ceilings);
  EXPECT_EQ(floor.by, "Tensor Cores");
  EXPECT_NEAR(floor.ms, 2.0 * 8192 * 8192 * 8192 / (ceilings->hmma_gflops * 1e6), 1e-9);
}

}  // namespace
}  // namespace gemm

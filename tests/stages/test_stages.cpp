// Every registered stage over the sizes where tiles go wrong: one, primes, tile +- 1, thin, wide, padded, misaligned.
#include <algorithm>
#include <array>
#include <bit>

#include "common/backend/device_memory.hpp"
#include "common/check/far_offsets.hpp"
#include "common/check/infinity.hpp"
#include "common/check/properties.hpp"
#include "common/check/wasted_pass.hpp"
#include "common/measure/declared.hpp"
#include "common/problem/spec.hpp"
#include "tests/device_test.hpp"

namespace gemm {
namespace {

class EveryStage : public DeviceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  const Stage& stage() { return find_stage(GetParam()); }

  void expect(const Property& property) {
    for (const auto& [form, spec] : property.trials) {
      const auto results = evaluate({contender(*form)}, spec, check_only(), {});
      EXPECT_NE(results[0].verdict.outcome, Outcome::fail)
          << form->id << " at " << describe(spec) << ": " << results[0].verdict.reason;
    }
  }
  void expect(const std::string& name) { expect(property(stage(), name)); }
};

class BatchedStage : public EveryStage {};  // those that take a batch
class TensorStage : public EveryStage {};   // those of FP32 products on Tensor Cores

TEST_P(EveryStage, Cubes) {
  expect("sizes");
}
TEST_P(EveryStage, PaddedMisalignedWithAlphaAndBeta) {
  expect("padded rows");
}
TEST_P(EveryStage, Rectangles) {
  expect("rectangles");
}
TEST_P(EveryStage, ThinTallAndWide) {
  expect("thin shapes");
}
TEST_P(EveryStage, DeepWithSeveralTiles) {
  expect("deep");
}
TEST_P(EveryStage, EmptyProducts) {
  expect("empty");
}
TEST_P(EveryStage, AlphaAndBeta) {
  expect("alpha and beta");
}
TEST_P(EveryStage, Distributions) {
  expect("numbers");
}
TEST_P(EveryStage, Variants) {
  expect("variants");
}
TEST_P(BatchedStage, Batches) {
  expect("batches");
}
TEST_P(BatchedStage, MatricesThatLieApart) {
  const std::optional<std::string> wrong = wrong_batch_stride(stage());
  if (!wrong) GTEST_SKIP() << "this is a GPU";
  EXPECT_EQ(*wrong, "");
}

// The quick tier's test: ./lab mutate measures what it misses.
TEST_P(EveryStage, Representative) {
  expect(representative(stage()));
}

TEST_P(EveryStage, FarOffsets) {
  const std::optional<std::string> wrong = wrong_far_offset(stage());
  if (!wrong) GTEST_SKIP() << "there are too few addresses, or this is a GPU";
  EXPECT_EQ(*wrong, "");
}

// FP32 by way of Tensor Cores: every size to 257, with others along the other sides; and the policies, each by what
// multiplies. On the executor the other sides are short, and each size has its turn as m, n or k.
TEST_P(TensorStage, AllSizes) {
  const Stage& stage = find_stage(GetParam());
  std::vector<Contender> contenders = {contender(stage)};
  for (const Stage& form : variants(stage)) {
    if (form.id.ends_with(":half-wmma") || form.id.ends_with(":shuffles")) contenders.push_back(contender(form));
  }
  const bool gpu = open_device().gpu;
  const int others = gpu ? 257 : 23;
  for (int size = 1; size <= 257; ++size) {
    const int x = size * 37 % others + 1, y = size * 101 % others + 1;
    const std::array specs = {box(size, x, y), box(x, size, y), box(x, y, size)};
    for (int i = 0; i < 3; ++i) {
      if (!gpu && i != size % 3) continue;
      for (const Result& result : evaluate(contenders, specs[i], check_only(), {}))
        EXPECT_NE(result.verdict.outcome, Outcome::fail)
            << result.id << " at " << describe(specs[i]) << ": " << result.verdict.reason;
    }
  }
}

template <class Condition>
std::vector<std::string> ids_of(const Condition& holds) {
  std::vector<std::string> all;
  for (const Stage& stage : stages()) {
    if (stage.op == Operation::gemm && holds(stage)) all.push_back(stage.id);
  }
  return all;
}

TEST_P(EveryStage, DeclaresWhatIsCounted) {
  if (open_device().gpu) GTEST_SKIP() << "the CPU executor counts";
  if (!stage().l1_cycles) GTEST_SKIP() << "declares nothing";
  for (const int size : {256, 255}) EXPECT_EQ(declared_wrongly(stage(), box(size, size, size)), "");
}

TEST_P(EveryStage, WastesNoPassOverK) {
  const std::optional<std::string> wrong = wasted_pass(stage());
  if (!wrong) GTEST_SKIP() << "multiply-adds can't be counted here";
  EXPECT_EQ(*wrong, "");
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '/', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Registered, EveryStage, ::testing::ValuesIn(ids_of([](const Stage&) { return true; })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Registered, BatchedStage, ::testing::ValuesIn(ids_of([](const Stage& s) { return s.batch; })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Registered, TensorStage, ::testing::ValuesIn(ids_of([](const Stage& s) {
                           return s.type == Type::f32 && family_of(s) == "tensorcore";
                         })),
                         test_name);
// A build of some stages (GEMM_STAGES) may have none of these.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BatchedStage);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TensorStage);

TEST_P(EveryStage, InfinityAndNan) {
  if (!has_infinity(stage())) GTEST_SKIP() << "not of FP32 operands in all their range";
  EXPECT_EQ(wrong_infinity(stage()), "");
}

DeviceArray<float> ones(int rows, int columns) {
  DeviceArray<float> array(static_cast<std::size_t>(rows) * columns);
  const std::vector<float> host(array.size(), 1.0f);
  check_cuda(cudaMemcpy(array.data(), host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice), "fill");
  return array;
}

// A few tiles after whole waves, and fewer rounds of k than blocks: each block has a share, or none has.
TEST_F(DeviceTest, BlocksWithoutAShareComputeNothing) {
  if (open_device().gpu) GTEST_SKIP() << "the CPU executor counts";
  const Stage& stage = find_stage("tensorcore/03b_even_shares");
  std::vector<Contender> contenders = {contender(stage)};
  for (const Stage& form : variants(stage)) contenders.push_back(contender(form));
  EvaluateOptions options = check_only();
  options.count = true;
  ProblemSpec spec = box(640, 256, 64);
  spec.type = *stage.type;
  for (const Result& result : evaluate(contenders, spec, options, {})) {
    EXPECT_EQ(result.verdict.outcome, Outcome::pass) << result.id << ": " << result.verdict.reason;
    ASSERT_TRUE(result.counts) << result.id;
    EXPECT_EQ(result.counts->flops(), 2.0 * 640 * 256 * 64) << result.id;
  }
}

// Each launch finds zeros where the stage asked for them, so each must leave zeros there.
TEST_F(DeviceTest, StagesLeaveTheZerosOfTheirWorkspace) {
  for (const Stage& stage : stages()) {
    if (stage.type != Type::f32 || stage.workspace_zeros == 0) continue;
    for (const auto [m, n, k] : {std::array{256, 256, 256}, std::array{300, 200, 900}, std::array{65, 64, 5000}}) {
      const DeviceArray<float> a = ones(m, k), b = ones(k, n), c = ones(m, n);
      SgemmProblem problem{
          .m = m, .n = n, .k = k, .a = a.data(), .lda = k, .b = b.data(), .ldb = n, .c = c.data(), .ldc = n};
      const DeviceArray<float> workspace(stage.workspace_bytes(problem) / sizeof(float));
      check_cuda(cudaMemset(workspace.data(), 0, stage.workspace_bytes(problem)), "clear");
      problem.workspace = workspace.data();
      for (int launch = 0; launch < 2; ++launch) {
        ASSERT_TRUE(stage.launch(problem, nullptr));
        const std::vector<float> after = workspace.to_host(), sums = c.to_host();
        const auto zeros = after.begin() + static_cast<std::ptrdiff_t>(stage.workspace_zeros / sizeof(float));
        EXPECT_TRUE(std::all_of(after.begin(), zeros, [](float x) { return std::bit_cast<unsigned>(x) == 0; }));
        EXPECT_TRUE(std::all_of(sums.begin(), sums.end(), [k = k](float x) { return x == static_cast<float>(k); }));
      }
    }
  }
}

}  // namespace
}  // namespace gemm

// Every registered stage over the sizes where tiles go wrong: one, primes, tile +- 1, thin, wide, padded, misaligned.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "common/backend/device_memory.hpp"
#include "common/problem/shapes.hpp"
#include "common/problem/spec.hpp"
#include "tests/device_test.hpp"

namespace gemm {
namespace {

class EveryStage : public DeviceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void expect_right(const ProblemSpec& spec) { expect_right(find_stage(GetParam()), spec); }

  void expect_right(const Stage& form, ProblemSpec spec) {
    spec.type = *form.type;
    const auto results = evaluate({contender(form)}, spec, check_only(), {});
    EXPECT_NE(results[0].verdict.outcome, Outcome::fail)
        << form.id << " at " << describe(spec) << ": " << results[0].verdict.reason;
  }
};

class BatchedStage : public EveryStage {};  // those that take a batch
class TensorStage : public EveryStage {};   // those of FP32 products on Tensor Cores

ProblemSpec scaled(ProblemSpec spec, float alpha, float beta) {
  spec.alpha = alpha;
  spec.beta = beta;
  return spec;
}

constexpr int sizes[] = {1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 65, 127, 129, 257};
// On the executor the largest cube would take as long as all others together: along k there it is flatter.
int depth(int size) {
  return size == 257 && !open_device().gpu ? 68 : size;
}

TEST_P(EveryStage, Cubes) {
  for (const int size : sizes) expect_right(box(size, size, depth(size)));
}

TEST_P(EveryStage, PaddedMisalignedWithAlphaAndBeta) {
  for (const int size : sizes) {
    ProblemSpec spec = awkward(size, size, depth(size));
    spec.offset = size % 4;
    expect_right(spec);
  }
}

// Each size meets others in each place: m, n and k all differ.
TEST_P(EveryStage, Rectangles) {
  const int count = static_cast<int>(std::size(sizes));
  for (int i = 0; i < count; ++i) {
    expect_right(box(sizes[i], sizes[(i + 5) % count], sizes[(i + 9) % count]));
    expect_right(awkward(sizes[(i + 3) % count], sizes[i], sizes[(i + 7) % count]));
  }
}

TEST_P(EveryStage, ThinTallAndWide) {
  const int times = open_device().gpu ? 1 : 4;  // shorter by that on the executor
  for (const auto& spec : {box(1, 300, 40), box(300, 1, 40), box(40, 300, 1), box(1, 1, 4000 / times),
                           box(3000 / times, 2, 3), box(2, 3000 / times, 3), box(33, 31, 2048 / times + 1)}) {
    expect_right(spec);
  }
}

// Few tiles, each of many rounds: where a stage cuts k into parts, or shares a last wave out, it does so here.
TEST_P(EveryStage, DeepWithSeveralTiles) {
  expect_right(open_device().gpu ? awkward(260, 390, 3000) : awkward(40, 140, 1300));
}

TEST_P(EveryStage, EmptyProducts) {
  for (const auto& [m, n, k] : {std::array{0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {0, 0, 0}, {70, 33, 0}}) {
    expect_right(box(m, n, k));
    expect_right(awkward(m, n, k));
  }
}

TEST_P(EveryStage, AlphaAndBeta) {
  for (const float alpha : {0.0f, 1.0f, -2.0f, 0.25f}) {
    for (const float beta : {0.0f, 1.0f, -0.5f}) expect_right(scaled(box(37, 50, 45), alpha, beta));
  }
  // Whole tiles of every stage, aligned, are stored another way.
  for (const float beta : {0.0f, 2.0f}) expect_right(scaled(box(256, 256, 64), -2, beta));
}

// The quick tier's test (tests/stages/test_mutants.py measures what it misses): few problems, which together take every path.
TEST_P(EveryStage, Representative) {
  std::vector<ProblemSpec> specs = {
      // Whole tiles of every stage, aligned: the largest is 128 x 256. Tiles with edges, still aligned.
      scaled(box(128, 256, 32), -2, 0),
      scaled(box(128, 128, 32), -2, 2),
      scaled(box(68, 136, 40), 0.25f, 0),
      scaled(box(132, 40, 40), 1, -0.5f),
      // Nothing aligned, and edges by one and more.
      awkward(131, 67, 35),
      awkward(33, 129, 34),
      box(65, 63, 31),
      box(17, 31, 33),
      // Vectors, a single step of k, nothing at all.
      awkward(1, 150, 40),
      awkward(150, 1, 33),
      scaled(box(40, 137, 1), -2, 1),
      scaled(box(1, 1, 150), 1.5f, 0),
      scaled(box(70, 33, 0), 1, 0.5f),
      box(5, 133, 0),
      awkward(0, 5, 5),
      awkward(5, 0, 5),
      // Few tiles, each many k-tiles deep.
      awkward(35, 70, 131),
      scaled(box(32, 32, 160), -2, 0),
  };
  specs.push_back(scaled(awkward(40, 70, 20), 0, 2));
  // Offsets of two elements: FP32 numbers are then aligned to 8 bytes only.
  specs.push_back(box(34, 66, 34));
  specs.back().offset = 2;
  const Stage& stage = find_stage(GetParam());
  if (stage.workspace_bytes) {  // it may partition k among blocks, or pack operands
    for (const ProblemSpec& spec : {box(20, 354, 33), box(22, 411, 36), scaled(box(70, 70, 100), -2, 2),
                                    box(30, 30, 400), awkward(20, 235, 163)}) {
      specs.push_back(spec);
    }
  }
  if (stage.batch) {
    for (const ProblemSpec& spec : {box(64, 64, 32), awkward(40, 37, 67)}) {
      specs.push_back(spec);
      specs.back().batch = 3;
    }
  }
  for (const ProblemSpec& spec : specs) expect_right(spec);
  for (const Stage& form : variants(stage)) {
    expect_right(form, scaled(box(64, 64, 32), -2, 0));
    expect_right(form, awkward(35, 70, 37));
  }
}

TEST_P(EveryStage, Distributions) {
  for (const auto d : {Distribution::positive, Distribution::normal, Distribution::integers, Distribution::wide,
                       Distribution::tiny, Distribution::huge}) {
    const bool fits = find_stage(GetParam()).type != Type::f16 || (d != Distribution::tiny && d != Distribution::huge);
    if (!fits) continue;  // FP16 has no such numbers
    ProblemSpec spec = box(65, 40, 200);
    spec.distribution = d;
    expect_right(spec);
  }
}

// Also more matrices than a GPU has places for tiles, and results that are read.
TEST_P(BatchedStage, Batches) {
  const Stage& stage = find_stage(GetParam());
  const bool gpu = open_device().gpu;
  for (const int batch : {0, 3, gpu ? 500 : 7}) {
    for (ProblemSpec spec : {cube(64), awkward(70, 37, 131), box(5, 3, 0)}) {
      if (!gpu && batch == 7 && spec.m == 70) spec = awkward(5, 37, 20);  // on the executor smaller
      spec.batch = batch;
      expect_right(spec);
    }
  }
  for (const Stage& form : variants(stage)) {
    ProblemSpec spec = gpu ? awkward(131, 257, 67) : awkward(65, 40, 35);
    spec.batch = 3;
    expect_right(form, spec);
  }
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

// What a stage declares of its inner loop's use of L1 and shared memory against what the executor counts. Loads from
// shared memory are the inner loop's alone, so they must agree; filling tiles, edges and the epilogue are counted on
// top.
TEST_P(EveryStage, DeclaresWhatIsCounted) {
  if (open_device().gpu) GTEST_SKIP() << "the CPU executor counts";
  const Stage& stage = find_stage(GetParam());
  if (!stage.l1_cycles) GTEST_SKIP() << "declares nothing";
  for (const char* shape : {"256", "255"}) {
    EvaluateOptions options = check_only();
    options.count = true;
    const ProblemSpec spec = parse_shape(shape);
    const auto results = evaluate({contender(stage)}, spec, options, {});
    ASSERT_TRUE(results[0].counts) << results[0].verdict.reason;
    const L1Cycles declared = l1_cycles(stage, spec);
    const double counted = counted_bound(*results[0].counts).cycles;
    const double least = std::max(declared.sum(), cycles_per_warp_fma);
    if (declared.global == 0) {
      const double loads = results[0].counts->shared_load.wavefronts * 32.0 / results[0].counts->fmas();
      // 17b: workers start anew in a tile. 18: a misaligned C goes through shared memory, a word for k FMAs.
      const double out = spec.n % 4 == 0 ? 0.0 : 1.0 / spec.k;
      EXPECT_NEAR(loads, declared.shared, 0.03 * declared.shared + out) << shape;
      EXPECT_LE(counted, 1.5 * least) << shape;
    } else {
      EXPECT_LE(counted, 1.15 * least) << shape;
    }
    EXPECT_GE(counted, 0.99 * least) << shape;
  }
}

// A variant shares its stage's launch logic, so fewer problems: with and without edges, padded, misaligned, thin,
// empty.
TEST_P(EveryStage, Variants) {
  std::vector<ProblemSpec> specs = {scaled(cube(64), -2, 2), awkward(131, 67, 35), box(65, 130, 7),
                                    scaled(box(128, 256, 136), -2, 0), awkward(0, 5, 5)};
  // There are a hundred variants: on the executor no more than that.
  if (open_device().gpu) {
    for (const ProblemSpec& spec : {cube(129), awkward(1, 200, 33), awkward(200, 1, 33), box(33, 31, 0)})
      specs.push_back(spec);
  }
  for (const Stage& form : variants(find_stage(GetParam()))) {
    for (const ProblemSpec& spec : specs) expect_right(form, spec);
  }
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

// Infinity and NaN come out where, and as, FP32 arithmetic has them. Not of stages whose operands become other numbers,
// as they are.
TEST_P(EveryStage, InfinityAndNan) {
  const Stage& stage = find_stage(GetParam());
  if (stage.type != Type::f32 || stage.emulation.fp16_range) GTEST_SKIP() << "not of FP32 operands in all their range";
  Workbench bench(box(67, 70, 41));
  const SgemmProblem p = bench.problem();
  const auto set = [](const float* to, float value) {
    check_cuda(cudaMemcpy(const_cast<float*>(to), &value, sizeof value, cudaMemcpyHostToDevice), "write");
  };
  const float infinite = std::numeric_limits<float>::infinity();
  set(p.a + 3 * p.lda + 40, infinite);
  set(p.a + 66 * p.lda, std::numeric_limits<float>::quiet_NaN());
  set(p.b + 7 * p.ldb + 69, -infinite);
  set(p.b + 40 * p.ldb + 5, 0.0f);  // times infinity
  bench.reset_output();
  ASSERT_TRUE(contender(stage).launch(bench.problem(), nullptr));
  const auto read = [](const float* from, std::int64_t ld, int rows, int columns) {
    std::vector<float> all((rows - 1) * ld + columns);
    check_cuda(cudaMemcpy(all.data(), from, all.size() * sizeof(float), cudaMemcpyDeviceToHost), "read");
    return all;
  };
  const auto a = read(p.a, p.lda, p.m, p.k), b = read(p.b, p.ldb, p.k, p.n), c = read(p.c, p.ldc, p.m, p.n);
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int k = 0; k < p.k; ++k) sum += static_cast<double>(a[i * p.lda + k]) * b[k * p.ldb + j];
      const float got = c[i * p.ldc + j];
      if (std::isnan(sum))
        EXPECT_TRUE(std::isnan(got)) << i << ", " << j;
      else if (std::isinf(sum))
        EXPECT_EQ(got, static_cast<float>(sum)) << i << ", " << j;
      else
        EXPECT_NEAR(got, sum, 1e-4) << i << ", " << j;
    }
  }
}

DeviceArray<float> ones(int rows, int columns) {
  DeviceArray<float> array(static_cast<std::size_t>(rows) * columns);
  const std::vector<float> host(array.size(), 1.0f);
  check_cuda(cudaMemcpy(array.data(), host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice), "fill");
  return array;
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

// Counts belong to lines of the kernel's source: those marked by "// <name>" at their ends.
#include <algorithm>
#include <fstream>
#include <map>

#include "tests/executor/count_testing.hpp"

namespace gemm {
namespace {

__device__ __forceinline__ float twice_inlined(const float* p) {
  return 2.0f * *p;  // <inlined load>
}

__device__ __attribute__((noinline)) float fused_outside(const float* p, float x) {
  return p[threadIdx.x] * x + 1.0f;  // <outside>
}

// All addresses are different: of two loads from one, g++ leaves one, as nvcc does.
__global__ void lines_kernel(const float* a, const float4* b, float* out, int* counter) {
  __shared__ float cells[64];
  const unsigned t = threadIdx.x;
  float sum = a[t];                                               // <first load>
  for (int i = 0; i < 10; ++i) sum += a[(i + 1) * 64 + t] * sum;  // <loop>
  sum += twice_inlined(a + 704 + t);
  sum += twice_inlined(a + 768 + 2 * t);
  cells[t] = sum;  // <shared store>
  __syncthreads();
  const float4 four = b[t];                             // <wide load>
  sum = cells[63 - t] + four.x;                         // <shared load>
  sum += std::max(a[t + 896], a[t + 960]);              // <through a reference>
  sum += __shfl_xor_sync(0xffffffffu, a[t + 1024], 1);  // <into a shuffle>
  atomicAdd(counter, 1);                                // <atomic>
  if (t < 40) sum = fused_outside(a + 1100, sum);
  out[t] = sum;  // <store>
}

// The same text twice: g++ must not make one of the two.
__global__ void twin_one_kernel(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // <twin one>
}
__global__ void twin_two_kernel(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // <twin two>
}

// Ends of two branches that look the same to the machine.
__global__ void arms_kernel(const float* in, float* out_one, float* out_two) {
  const unsigned t = threadIdx.x;
  if (t < 16) {
    out_one[t] = 2.0f * in[t];  // <one arm>
  } else {
    out_two[t] = 3.0f + in[2 * t];  // <other arm>
  }
}

const std::string file_name = "tests/executor/count_lines.cu";

int line_of(const std::string& name) {
  std::ifstream file(std::string(GEMM_SOURCE_DIR "/") + file_name);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with("// <" + name + ">")) return number;
  }
  ADD_FAILURE() << "no line " << name;
  return 0;
}

class Lines {
 public:
  explicit Lines(const Observation& observation) {
    for (const LineCounts& line : line_counts_of(observation)) {
      EXPECT_EQ(line.file, file_name) << "line " << line.line;
      EXPECT_TRUE(lines_.try_emplace(line.line, line.counts).second) << "each line once";
      order_.push_back(line.line);
    }
  }
  /// Takes it out.
  Counts take(const std::string& name) {
    const auto node = lines_.extract(line_of(name));
    EXPECT_TRUE(node) << "nothing counted on the line of " << name;
    return node ? node.mapped() : Counts{};
  }
  bool sorted() const { return std::ranges::is_sorted(order_); }
  std::string rest() const {
    std::string text;
    for (const auto& [line, counts] : lines_) text += std::to_string(line) + " ";
    return text;
  }

 private:
  std::map<int, Counts> lines_;
  std::vector<int> order_;
};

TEST(CountLines, AreTheKernelsOwn) {
  const auto a = zeros<float>(1200), out = zeros<float>(64);
  const auto b = zeros<float4>(64);
  const auto counter = zeros<int>(1);
  const Observation observation = observed(lines_kernel, {.block = 64}, a.data(), b.data(), out.data(), counter.data());
  EXPECT_TRUE(observation.defects.empty());
  Lines lines(observation);
  EXPECT_TRUE(lines.sorted());
  EXPECT_EQ(lines.take("first load").global_load.requests, 2u);
  const Counts loop = lines.take("loop");
  EXPECT_EQ(loop.global_load.requests, 20u);
  EXPECT_EQ(loop.global_load.sectors, 80u);
  EXPECT_EQ(loop.fma32, 640u);
  const Counts inlined = lines.take("inlined load");
  EXPECT_EQ(inlined.global_load.requests, 4u) << "both calls, on the helper's line";
  EXPECT_EQ(inlined.global_load.sectors, 2u * 4 + 2u * 8);
  EXPECT_EQ(lines.take("shared store").shared_store.wavefronts, 2u);
  EXPECT_EQ(lines.take("wide load").global_load.bytes, 64u * 16);
  EXPECT_EQ(lines.take("shared load").shared_load.requests, 2u);
  EXPECT_EQ(lines.take("through a reference").global_load.requests, 4u);
  EXPECT_EQ(lines.take("into a shuffle").global_load.requests, 2u);
  const Counts atomic = lines.take("atomic");
  EXPECT_EQ(atomic.global_atomic.lanes, 64u);
  EXPECT_EQ(atomic.global_load.requests + atomic.global_store.requests, 0u);
  const Counts outside = lines.take("outside");
  EXPECT_EQ(outside.global_load.requests, 2u);
  EXPECT_EQ(outside.global_load.lanes, 40u);
  EXPECT_EQ(outside.fma32, 40u);
  EXPECT_EQ(lines.take("store").global_store.requests, 2u);
  // 2 * x + sum is an FMA, too: on the line that g++ gives it, the helper's or the caller's.
  EXPECT_EQ(counts_of(observation)->fma32, 640u + 40 + 2 * 64);
}

TEST(CountLines, SumUpToTheWhole) {
  const auto a = zeros<float>(1200), out = zeros<float>(64);
  const auto b = zeros<float4>(64);
  const auto counter = zeros<int>(1);
  const Observation observation = observed(lines_kernel, {.block = 64}, a.data(), b.data(), out.data(), counter.data());
  Counts sum;
  for (const LineCounts& line : line_counts_of(observation)) sum += line.counts;
  const Counts whole = counts_of(observation).value();
  for (const auto kind : {&Counts::global_load, &Counts::global_store, &Counts::shared_load, &Counts::shared_store,
                          &Counts::global_atomic, &Counts::shared_atomic}) {
    EXPECT_EQ((sum.*kind).requests, (whole.*kind).requests);
    EXPECT_EQ((sum.*kind).bytes, (whole.*kind).bytes);
    EXPECT_EQ((sum.*kind).wavefronts, (whole.*kind).wavefronts);
  }
  EXPECT_EQ(sum.fma32, whole.fma32);
}

TEST(CountLines, EqualKernelsKeepTheirOwnLines) {
  const auto in = zeros<float>(32), out = zeros<float>(32);
  Lines one(observed(twin_one_kernel, {.block = 32}, in.data(), out.data()));
  EXPECT_EQ(one.take("twin one").global_store.requests, 1u);
  EXPECT_EQ(one.rest(), "");
  Lines two(observed(twin_two_kernel, {.block = 32}, in.data(), out.data()));
  EXPECT_EQ(two.take("twin two").global_store.requests, 1u);
  EXPECT_EQ(two.rest(), "");
}

TEST(CountLines, EqualEndsOfBranchesStayApart) {
  const auto in = zeros<float>(64), one = zeros<float>(32), two = zeros<float>(32);
  Lines lines(observed(arms_kernel, {.block = 32}, in.data(), one.data(), two.data()));
  for (const std::string arm : {"one arm", "other arm"}) {
    const Counts counts = lines.take(arm);
    EXPECT_EQ(counts.global_load.lanes, 16u) << arm;
    EXPECT_EQ(counts.global_store.requests, 1u) << arm;
    EXPECT_EQ(counts.global_store.lanes, 16u) << arm;
  }
  EXPECT_EQ(lines.rest(), "");
}

}  // namespace
}  // namespace gemm

// How accesses of lanes become requests of warps: divergence, loops, partial warps, what separates launches.
#include <array>
#include <map>
#include <tuple>

#include "common/simt/observe/inspection.hpp"
#include "tests/executor/count_testing.hpp"

namespace gemm {
namespace {

// Requests, lanes, and for global memory sectors.
void expect(const AccessCounts& counts, std::uint64_t requests, std::uint64_t lanes) {
  EXPECT_EQ(counts.requests, requests);
  EXPECT_EQ(counts.lanes, lanes);
}
void expect(const AccessCounts& counts, std::uint64_t requests, std::uint64_t lanes, std::uint64_t sectors) {
  expect(counts, requests, lanes);
  EXPECT_EQ(counts.sectors, sectors);
}

__global__ void odd_lanes_kernel(const float* in, float* out) {
  float x = 1.0f;
  if (threadIdx.x % 2) x = in[threadIdx.x];
  out[threadIdx.x] = x;
}
TEST(CountRules, LanesThatSkipAnAccess) {
  const auto in = zeros<float>(64), out = zeros<float>(64);
  const Counts counts = counted(odd_lanes_kernel, {.block = 64}, in.data(), out.data());
  expect(counts.global_load, 2, 32, 8);
  expect(counts.global_store, 2, 64, 8);
}

__global__ void trip_count_kernel(const float* in, float* out, int base, int lanes) {
  float sum = 0.0f;
  const int trips = static_cast<int>(threadIdx.x) < lanes ? base + static_cast<int>(threadIdx.x) : 0;
  for (int i = 0; i < trips; ++i) sum += in[i];
  out[threadIdx.x] = sum;
}
TEST(CountRules, AWarpGoesOnUntilItsLastLane) {
  const auto in = zeros<float>(80000), out = zeros<float>(32);
  const auto run = [&](int base, int lanes) {
    return counted(trip_count_kernel, {.block = 32}, in.data(), out.data(), base, lanes);
  };
  // Lane l makes base + l accesses, always to the same word as the others. Buffers hold 256.
  for (const int base : {0, 1, 200, 255, 256, 257, 600, 5000}) {
    SCOPED_TRACE(base);
    const Counts counts = run(base, 32);
    expect(counts.global_load, base + 31, 32 * base + 31 * 16, base + 31);
    expect(counts.global_store, 1, 32, 4);
  }
  // More than the recorder keeps open, in lanes that differ.
  expect(run(70000, 32).global_load, 70031, 32 * 70000 + 31 * 16, 70031);
  expect(run(70000, 3).global_load, 70002, 3 * 70000 + 3, 70002);
}

__global__ void loop_kernel(const float* in, float* out, int trips) {
  float sum = 0.0f;
  for (int i = 0; i < trips; ++i) sum += in[i * 32 + threadIdx.x];
  out[threadIdx.x] = sum;
}
TEST(CountRules, LoopsLongerThanABuffer) {
  const auto in = zeros<float>(32 * 3001), out = zeros<float>(32);
  for (const int trips : {1, 255, 256, 257, 511, 512, 513, 3000}) {
    SCOPED_TRACE(trips);
    expect(counted(loop_kernel, {.block = 32}, in.data(), out.data(), trips).global_load, trips, 32 * trips, 4 * trips);
    expect(counted(loop_kernel, {.block = 20}, in.data(), out.data(), trips).global_load, trips, 20 * trips, 3 * trips);
  }
}

// Every lane makes all the accesses of its buffer at one place before it comes to the next: they still meet.
__global__ void two_loops_kernel(const float* a, const float* b, float* out) {
  float sum = 0.0f;
  for (int i = 0; i < 10 * static_cast<int>(threadIdx.x); ++i) sum += a[i];
  for (int i = 0; i < 400; ++i) sum += b[i * 32 + threadIdx.x];
  out[threadIdx.x] = sum;
}
TEST(CountRules, LanesMeetAgainAfterADivergentLoop) {
  const auto a = zeros<float>(400), b = zeros<float>(400 * 32), out = zeros<float>(32);
  const Counts counts = counted(two_loops_kernel, {.block = 32}, a.data(), b.data(), out.data());
  expect(counts.global_load, 310 + 400, 10 * 31 * 16 + 400 * 32, 310 + 400 * 4);
}

__global__ void boundary_kernel(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = 2.0f * in[i];
}
TEST(CountRules, BoundaryThreads) {
  const auto in = zeros<float>(128), out = zeros<float>(128);
  const auto run = [&](int n) { return counted(boundary_kernel, {.grid = 2, .block = 64}, in.data(), out.data(), n); };
  expect(run(128).global_load, 4, 128, 16);
  expect(run(100).global_load, 4, 100, 13);
  expect(run(100).global_store, 4, 100, 13);
  expect(run(96).global_load, 3, 96, 12);  // the last warp issues nothing
  expect(run(0).global_load, 0, 0, 0);
  EXPECT_EQ(run(0).threads, 128u);
}

__global__ void half_warp_kernel(const float* a, const float* b, float* out_a, float* out_b) {
  const unsigned lane = threadIdx.x % 32;
  if (lane < 16) {
    out_a[lane] = 2.0f * a[lane];
  } else {
    out_b[lane] = 3.0f + b[2 * lane];
  }
  out_a[threadIdx.x + 32] = 1.0f;
}
TEST(CountRules, BranchesOfHalfAWarp) {
  const auto a = zeros<float>(64), b = zeros<float>(64), out_a = zeros<float>(64), out_b = zeros<float>(64);
  const Counts counts = counted(half_warp_kernel, {.block = 32}, a.data(), b.data(), out_a.data(), out_b.data());
  expect(counts.global_load, 2, 32, 2 + 4);
  expect(counts.global_store, 3, 64, 2 + 2 + 4);
}

__global__ void early_return_kernel(const float* in, float* out, int last) {
  __shared__ float cells[64];
  if (static_cast<int>(threadIdx.x) >= last) return;
  for (int i = 0; i < 3; ++i) {
    cells[threadIdx.x] = in[i * 64 + threadIdx.x];
    __syncwarp();
    out[i * 64 + threadIdx.x] = cells[threadIdx.x];
    __syncwarp();
  }
}
TEST(CountRules, LanesThatReturnEarly) {
  const auto in = zeros<float>(3 * 64), out = zeros<float>(3 * 64);
  for (const int last : {0, 1, 20, 32, 40, 64}) {
    SCOPED_TRACE(last);
    const Counts counts = counted(early_return_kernel, {.block = 64}, in.data(), out.data(), last);
    const int warps = (last + 31) / 32;
    expect(counts.global_load, 3 * warps, 3 * last, 3 * ((last + 7) / 8));
    expect(counts.shared_store, 3 * warps, 3 * last);
    expect(counts.shared_load, 3 * warps, 3 * last);
    EXPECT_EQ(counts.shared_load.wavefronts, 3u * warps);
  }
}

__global__ void copy_kernel(const float* in, float* out) {
  const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[t] = in[t];
}
TEST(CountRules, PartialWarps) {
  const auto in = zeros<float>(64), out = zeros<float>(64);
  expect(counted(copy_kernel, {.block = 48}, in.data(), out.data()).global_load, 2, 48, 6);
  expect(counted(copy_kernel, {.block = {16, 3}}, in.data(), out.data()).global_load, 2, 48, 6);
  expect(counted(copy_kernel, {.block = {3, 5, 3}}, in.data(), out.data()).global_load, 2, 45, 6);
  expect(counted(copy_kernel, {.block = 1}, in.data(), out.data()).global_load, 1, 1, 1);
}

__global__ void shuffle_kernel(const float* in, float* out, int rounds) {
  float x = 0.0f;
  for (int i = 0; i < rounds; ++i) {
    x += in[i * 32 + threadIdx.x];
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    if (threadIdx.x < 8) x += in[threadIdx.x];
  }
  out[threadIdx.x] = x;
}
TEST(CountRules, ShufflesInBetween) {
  const auto in = zeros<float>(300 * 32), out = zeros<float>(32);
  const Counts counts = counted(shuffle_kernel, {.block = 32}, in.data(), out.data(), 300);
  expect(counts.global_load, 600, 300 * 40, 300 * 5);
}

__global__ void half_shuffle_kernel(const float* in, float* out) {
  const bool lower = threadIdx.x < 16;
  const unsigned mask = lower ? 0x0000ffffu : 0xffff0000u;
  float x = 0.0f;
  for (int i = 0; i < (lower ? 5 : 9); ++i) {
    x += in[i * 32 + threadIdx.x];
    x += __shfl_xor_sync(mask, x, 1);
  }
  out[threadIdx.x] = x;
}
TEST(CountRules, ShufflesOfHalfAWarp) {
  const auto in = zeros<float>(9 * 32), out = zeros<float>(32);
  const Counts counts = counted(half_shuffle_kernel, {.block = 32}, in.data(), out.data());
  expect(counts.global_load, 9, 5 * 32 + 4 * 16, 5 * 4 + 4 * 2);
}

// Even lanes read in even rounds, odd lanes in odd ones. The hardware would issue a request a round; the executor knows
// no rounds, only how often each lane has come by. docs/concepts/cpu_executor.md states this limit.
__global__ void alternating_kernel(const float* in, float* out) {
  float x = 0.0f;
  for (unsigned i = 0; i < 20; ++i) {
    if (i % 2 == threadIdx.x % 2) x += in[threadIdx.x];
  }
  out[threadIdx.x] = x;
}
TEST(CountRules, LanesThatAlternateAreMergedTooFar) {
  const auto in = zeros<float>(32), out = zeros<float>(32);
  const Counts counts = counted(alternating_kernel, {.block = 32}, in.data(), out.data());
  EXPECT_EQ(counts.global_load.lanes, 320u);
  EXPECT_EQ(counts.global_load.requests, 10u) << "20 on a GPU";
}

__global__ void barrier_kernel(float* out, int rounds) {
  for (int i = 0; i < rounds; ++i) __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(rounds);
}
TEST(CountRules, BarriersAreCountedOncePerBlock) {
  const auto out = zeros<float>(7 * 96);
  EXPECT_EQ(counted(barrier_kernel, {.grid = 7, .block = 96}, out.data(), 5).barriers, 35u);
  EXPECT_EQ(counted(barrier_kernel, {.grid = 7, .block = 96}, out.data(), 0).barriers, 0u);
  // What nobody looks at is not counted later on.
  ASSERT_TRUE(launch(barrier_kernel, {.grid = 7, .block = 96}, out.data(), 5));
  const Counts counts = counted(barrier_kernel, {.grid = 7, .block = 96}, out.data(), 1);
  EXPECT_EQ(counts.barriers, 7u);
  expect(counts.global_store, 7 * 3, 7 * 96);
}

TEST(CountRules, LaunchesAreCountedApart) {
  const auto in = zeros<float>(128), out = zeros<float>(1000);
  simt::InspectionResult result;
  {
    const simt::Inspection inspection(result);
    ASSERT_TRUE(launch(boundary_kernel, {.grid = 2, .block = 64}, in.data(), out.data(), 100));
    ASSERT_TRUE(launch(barrier_kernel, {.grid = 4, .block = 32}, out.data(), 3));
    ASSERT_TRUE(launch(boundary_kernel, {.grid = 1, .block = 64}, in.data(), out.data(), 30));
  }
  ASSERT_EQ(result.kernels.size(), 3u);
  const auto requests = [&](int kernel, bool store) {
    std::uint64_t sum = 0;
    for (const simt::SiteCounts& site : result.kernels[kernel].sites) sum += site.store == store ? site.requests : 0;
    return sum;
  };
  EXPECT_EQ(result.kernels[0].kernel, "gemm::boundary_kernel");
  EXPECT_EQ(result.kernels[1].kernel, "gemm::barrier_kernel");
  EXPECT_EQ((std::array{requests(0, false), requests(1, false), requests(2, false)}),
            (std::array<std::uint64_t, 3>{4, 0, 1}));
  EXPECT_EQ((std::array{requests(0, true), requests(1, true), requests(2, true)}),
            (std::array<std::uint64_t, 3>{4, 4, 1}));
  EXPECT_EQ(result.kernels[0].barriers, 0u);
  EXPECT_EQ(result.kernels[1].barriers, 12u);
}

// The lanes diverge beyond a buffer's length, then one leaves the array: the kernel is aborted halfway.
__global__ void faulty_kernel(const float* in, float* out) {
  float sum = 0.0f;
  for (int i = 0; i < 1000 + static_cast<int>(threadIdx.x); ++i) sum += in[i];
  if (threadIdx.x == 31) sum += in[1 << 20];
  out[threadIdx.x] = sum;
}
TEST(CountRules, AnAbortedKernelLeavesNothingBehind) {
  const auto in = zeros<float>(2000), out = zeros<float>(32);
  const auto clean = [&] {
    return counted(trip_count_kernel, {.block = 32}, in.data(), out.data(), 300, 32).global_load;
  };
  const AccessCounts before = clean();
  EXPECT_FALSE(observed(faulty_kernel, {.block = 32}, in.data(), out.data()).defects.empty());
  simt::InspectionResult result;
  {
    const simt::Inspection inspection(result);
    ASSERT_TRUE(launch(barrier_kernel, {.block = 32}, out.data(), 3));
  }
  EXPECT_EQ(result.kernels.at(0).sites.size(), 1u) << "its one store";
  const AccessCounts after = clean();
  expect(after, before.requests, before.lanes, before.sectors);
}

TEST(CountRules, DoNotDependOnHowManyBlocksRunAtATime) {
  const auto in = zeros<float>(64 * 64), out = zeros<float>(64 * 64);
  using Key = std::tuple<std::uintptr_t, bool, bool>;
  const auto run = [&](bool one_by_one) {
    simt::InspectionResult result;
    {
      simt::Inspection inspection(result);
      if (one_by_one) inspection.on_global_write = [](const auto&...) {};
      EXPECT_TRUE(launch(boundary_kernel, {.grid = 64, .block = 64}, in.data(), out.data(), 64 * 61 + 5));
    }
    std::map<Key, std::array<std::uint64_t, 6>> sums;
    for (const simt::SiteCounts& s : result.kernels.at(0).sites) {
      EXPECT_TRUE(sums.try_emplace({s.pc, s.shared, s.store},
                                   std::array{s.requests, s.lanes, s.sectors, s.lines, s.wavefronts, s.conflicts})
                      .second)
          << "each place once";
    }
    return sums;
  };
  const auto alone = run(true);
  ASSERT_EQ(alone.size(), 2u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(run(false), alone);
}

// Block b reads 32 words b + 1 times, as many different ones as `apart` says, and the first lane writes a word.
__global__ void uneven_kernel(const float* in, float* out, int apart) {
  float sum = 0.0f;
  for (unsigned i = 0; i <= blockIdx.x; ++i) sum += in[i * apart + threadIdx.x];
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
TEST(CountRules, TheBlockThatTouchesMost) {
  const auto in = zeros<float>(256), out = zeros<float>(8);
  const auto most = [&](int apart, bool asked = true) {
    const auto launches = [&] {
      EXPECT_TRUE(launch(uneven_kernel, {.grid = 8, .block = 32}, in.data(), out.data(), apart));
    };
    return observe(launches, {.sectors_of_blocks = asked}).most_sectors_of_a_block;
  };
  EXPECT_EQ(most(32), 8u * 4 + 1);
  EXPECT_EQ(most(0), 4u + 1);  // the same sectors again are no more
  EXPECT_EQ(most(32, false), 0u);
}

}  // namespace
}  // namespace gemm

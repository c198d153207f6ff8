// Counts of the CPU executor: seven kernels of which Nsight Compute's counts are known; and what follows from counts.
// (count_*.cu: the rules one by one.)
#include <gtest/gtest.h>

#include <cmath>

#include "common/check/workbench.hpp"
#include "tests/executor/prototype_kernels.hpp"

namespace gemm {
namespace {

Counts counts_of_prototype(int which) {
  ProblemSpec spec;
  spec.m = spec.n = spec.k = 128;
  spec.alpha = 1.5f;
  spec.beta = 0.5f;
  Workbench bench(spec);
  Contender contender;
  contender.id = prototype_name(which);
  contender.launch = [which](const SgemmProblem& p, cudaStream_t s) { return launch_prototype(which, p, s); };
  const Verdict verdict = bench.check(contender);
  EXPECT_EQ(verdict.outcome, Outcome::pass) << verdict.reason;
  return counts_of(verdict.observation).value();
}

// Read on an H200, but for scalar loads from shared memory that nvcc merges (see there).
struct Expected {
  Prototype which;
  std::uint64_t load_requests, load_sectors;
  std::uint64_t shared_load_requests, shared_load_wavefronts;
  std::uint64_t shared_store_requests, shared_store_wavefronts;
  std::uint64_t store_requests, store_sectors;
  std::uint64_t barriers, blocks, shared_bytes;
};

TEST(PrototypeCounts, AreThoseOfTheHardware) {
  const Expected table[] = {
      {naive_uncoalesced, 131584, 2179072, 0, 0, 0, 0, 512, 16384, 0, 16, 0},
      {naive_coalesced, 131584, 329728, 0, 0, 0, 0, 512, 2048, 0, 16, 0},
      // On the device 81920 and 98304: nvcc reads four steps of A with one load of 16 bytes.
      {tile, 4608, 18432, 131072, 131072, 4096, 4096, 512, 2048, 128, 16, 8192},
      {tile_transposed, 4608, 18432, 131072, 131072, 4096, 67584, 512, 2048, 128, 16, 8192},
      {tile_padded, 4608, 18432, 131072, 131072, 4096, 4096, 512, 2048, 128, 16, 8320},
      {float4_128, 384, 8192, 4096, 20480, 640, 1536, 128, 4096, 32, 1, 8192},
      // On the device 10240 requests: nvcc reads B's eight words with two loads, of 8 wavefronts each where the eight
      // as written take 2 each: 49152 wavefronts either way.
      {scalar_64, 2560, 24576, 16384, 49152, 2048, 2048, 512, 16384, 128, 4, 4096},
  };
  static_assert(std::size(table) == prototype_count);
  for (const Expected& expected : table) {
    SCOPED_TRACE(prototype_name(expected.which));
    const Counts counts = counts_of_prototype(expected.which);
    EXPECT_EQ(counts.global_load.requests, expected.load_requests);
    EXPECT_EQ(counts.global_load.sectors, expected.load_sectors);
    EXPECT_EQ(counts.shared_load.requests, expected.shared_load_requests);
    EXPECT_EQ(counts.shared_load.wavefronts, expected.shared_load_wavefronts);
    EXPECT_EQ(counts.shared_store.requests, expected.shared_store_requests);
    EXPECT_EQ(counts.shared_store.wavefronts, expected.shared_store_wavefronts);
    EXPECT_EQ(counts.global_store.requests, expected.store_requests);
    EXPECT_EQ(counts.global_store.sectors, expected.store_sectors);
    EXPECT_EQ(counts.barriers, expected.barriers);
    EXPECT_EQ(counts.blocks, expected.blocks);
    EXPECT_EQ(counts.shared_bytes, expected.shared_bytes);
    // 128^3, and one for each element of C: alpha * sum + (beta * c).
    EXPECT_EQ(counts.fma32, 2113536u);
    EXPECT_EQ(counts.fma64, 0u);
    EXPECT_EQ(counts.global_atomic.requests + counts.shared_atomic.requests, 0u);
    // What threads asked for does not depend on how warps are put together.
    EXPECT_EQ(counts.global_store.bytes, 128u * 128 * sizeof(float));
  }
}

TEST(PrototypeCounts, ConflictsAreTheWavefrontsBeyondTheLeast) {
  EXPECT_EQ(counts_of_prototype(tile).shared_store.conflicts, 0u);
  EXPECT_EQ(counts_of_prototype(tile_transposed).shared_store.conflicts, 2048u * 31);
  EXPECT_EQ(counts_of_prototype(tile_padded).shared_store.conflicts, 0u);
  // B's reads: 64 words from 2 rows of banks in each of four phases, twice what they need.
  EXPECT_EQ(counts_of_prototype(float4_128).shared_load.conflicts, 2048u * 4);
  EXPECT_EQ(counts_of_prototype(scalar_64).shared_load.conflicts, 8192u * 3 + 8192u * 1);
}

TEST(PrototypeCounts, UnsuitableProblemsAreRefused) {
  SgemmProblem problem;
  problem.m = problem.n = 128;
  problem.k = 100;
  EXPECT_EQ(launch_prototype(tile, problem).code, Status::Code::unsupported);
}

TEST(PrototypeCounts, IntensityGrowsWithReuse) {
  const Counts naive = counts_of_prototype(naive_coalesced), tiled = counts_of_prototype(tile);
  const Counts blocked = counts_of_prototype(float4_128);
  const double flops = 2.0 * 2113536;
  EXPECT_DOUBLE_EQ(naive.intensity_global(), flops / (32.0 * (329728 + 2048)));
  EXPECT_DOUBLE_EQ(tiled.intensity_global(), flops / (32.0 * (18432 + 2048)));
  EXPECT_DOUBLE_EQ(tiled.intensity_shared(), flops / (128.0 * (131072 + 4096)));
  EXPECT_DOUBLE_EQ(blocked.intensity_shared(), flops / (128.0 * (20480 + 1536)));
  EXPECT_TRUE(std::isinf(naive.intensity_shared()));
  // A thread's 8 x 8 elements: 16 words from shared memory for 64 FMAs.
  const double matrix = 128.0 * 128 * sizeof(float), read_from_tiles = 256.0 * 128 * 16 * sizeof(float);
  const double moved =
      read_from_tiles + 2 * matrix /* A and B to registers */ + 2 * matrix /* and on */ + 2 * matrix /* C */;
  EXPECT_DOUBLE_EQ(blocked.intensity_register(), flops / moved);
}

TEST(Counts, SumsAndIntensities) {
  Counts one, two;
  one.global_load = {
      .requests = 10, .lanes = 320, .bytes = 1280, .sectors = 40, .lines = 10, .wavefronts = 10, .conflicts = 0};
  one.global_store = {
      .requests = 1, .lanes = 32, .bytes = 128, .sectors = 4, .lines = 1, .wavefronts = 1, .conflicts = 0};
  one.shared_load = {
      .requests = 4, .lanes = 128, .bytes = 512, .sectors = 0, .lines = 0, .wavefronts = 16, .conflicts = 12};
  one.shared_bytes = 100;
  one.fma32 = 1000;
  one.barriers = 3;
  two.global_atomic = {
      .requests = 2, .lanes = 64, .bytes = 256, .sectors = 6, .lines = 2, .wavefronts = 2, .conflicts = 0};
  two.shared_bytes = 60;
  two.fma64 = 10;
  two.tensor_flops = 4096;
  two.barriers = 4;
  Counts sum = one;
  sum += two;
  EXPECT_EQ(sum.fma32, 1000u);
  EXPECT_EQ(sum.fma64, 10u);
  EXPECT_EQ(sum.barriers, 7u);
  EXPECT_EQ(sum.shared_bytes, 100u) << "of a block: the larger one";
  EXPECT_DOUBLE_EQ(sum.flops(), 2 * 1010 + 4096);
  EXPECT_DOUBLE_EQ(sum.intensity_global(), sum.flops() / (32 * 50.0));
  EXPECT_DOUBLE_EQ(sum.intensity_shared(), sum.flops() / (128 * 16.0));
  EXPECT_DOUBLE_EQ(sum.intensity_register(), sum.flops() / (1280 + 128 + 512.0));
  EXPECT_DOUBLE_EQ(sum.data_cycles(), 10 + 1 + 16.0) << "without atomics";
  EXPECT_DOUBLE_EQ(sum.tag_cycles(), 11 / 4.0);
  EXPECT_FALSE((Counts{} += Counts{}).fma32.has_value()) << "not known, which is not none";
  EXPECT_FALSE(counts_of(Observation{}).has_value());
  EXPECT_TRUE(line_counts_of(Observation{}).empty());
}

}  // namespace
}  // namespace gemm

// The figures of "Decreasing LDS Memory Requests": reads of shared memory for a tile of 128 x 128 x 8, by single
// threads as the article counts them (8192, 6144, 5120, and its introduction's "around 3 thousand") and by warps. Stage
// 11.
#include <cstdint>
#include <string>

#include "common/problem/spec.hpp"
#include "tests/device_test.hpp"

namespace gemm {
namespace {

struct Expected {
  const char* stage;
  std::uint64_t thread_requests, warp_requests, wavefronts;  // for a tile
};

constexpr Expected table[] = {
    {"11a:unshared", 8192, 256, 64 * 12},  // 8 warps x 8 steps of k, 4 + 4 + 2 + 2 wavefronts each
    {"11a", 6144, 192, 64 * 10},          {"11b", 5120, 160, 64 * 10},
    {"11b:unroll=1", 5120, 160, 64 * 10}, {"11c", 3072, 96, 64 * 6},
};

void expect_counts(const ProblemSpec& spec, std::uint64_t tiles) {
  for (const Expected& expected : table) {
    SCOPED_TRACE(std::string(expected.stage) + " at " + describe(spec));
    EvaluateOptions options = check_only();
    options.count = true;
    const auto results = evaluate({contender(find_stage(expected.stage))}, spec, options, {});
    ASSERT_TRUE(results[0].counts) << results[0].verdict.reason;
    const AccessCounts& loads = results[0].counts->shared_load;
    EXPECT_EQ(loads.lanes, tiles * expected.thread_requests);
    EXPECT_EQ(loads.requests, tiles * expected.warp_requests);
    EXPECT_EQ(loads.wavefronts, tiles * expected.wavefronts);
    EXPECT_EQ(loads.conflicts, 0u);
  }
}

TEST(ArticleCounts, OneTile) {
  expect_counts(box(128, 128, 8), 1);
}

// Two tiles of C, eight of k.
TEST(ArticleCounts, SixteenTiles) {
  expect_counts(box(256, 128, 64), 16);
}

// Edges are zeros in the tiles, and padding or alignment do not change how the tiles are read: the same counts.
TEST(ArticleCounts, RaggedAndMisaligned) {
  expect_counts(awkward(131, 127, 61), 2 * 8);
}

}  // namespace
}  // namespace gemm

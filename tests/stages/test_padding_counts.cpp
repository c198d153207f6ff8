// "SGEMM on Pascal" pads A, B and C from kernel 5 on, and copies C back without the padding: what the variants that
// stand for this store.
#include <cstdint>
#include <string>

#include "common/kernel/pad.cuh"
#include "common/problem/spec.hpp"
#include "tests/device_test.hpp"

namespace gemm {
namespace {

struct Padded {
  const char* stage;
  int tile_m, tile_n, tile_k;
};

constexpr Padded table[] = {
    {"06a:always_padded", 32, 32, 32}, {"06b:always_padded", 64, 32, 32}, {"09a:padded", 128, 128, 8}};

// Stores to global memory, by single threads.
std::uint64_t stores(const char* stage, const ProblemSpec& spec) {
  EvaluateOptions options = check_only();
  options.count = true;
  const auto results = evaluate({contender(find_stage(stage))}, spec, options, {});
  EXPECT_EQ(results[0].verdict.outcome, Outcome::pass) << results[0].verdict.reason;
  return results[0].counts ? results[0].counts->global_store.lanes : 0;
}

// One for each word of the padded A and B, of the padded C that the product makes, and of C itself; where C counts
// (beta is not 0) also of the padded C that is copied.
void expect_copies(const Padded& padded, int m, int n, int k) {
  SCOPED_TRACE(padded.stage);
  const std::uint64_t rows = round_up(m, padded.tile_m), cols = round_up(n, padded.tile_n),
                      depth = round_up(k, padded.tile_k);
  const std::uint64_t all = rows * depth + depth * cols + rows * cols + m * n;
  EXPECT_EQ(stores(padded.stage, scaled(box(m, n, k), 1, 0)), all);
  EXPECT_EQ(stores(padded.stage, scaled(box(m, n, k), -2, 0.5)), all + rows * cols);
}

TEST(PaddingCounts, EveryMatrixIsCopied) {
  for (const Padded& padded : table) {
    expect_copies(padded, 33, 70, 37);    // edges everywhere
    expect_copies(padded, 128, 128, 32);  // none: the source copies all the same
  }
}

// What is left of 09a:padded without its copies.
TEST(PaddingCounts, TheProductAlone) {
  EXPECT_EQ(stores("09a:product", box(128, 256, 16)), 128u * 256u);
}

}  // namespace
}  // namespace gemm

// Which kernel is chosen for a tall & skinny product (tsm/choice.hpp).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/report/kernel_options_json.hpp"
#include "tests/device_test.hpp"
#include "tsm/choice.hpp"

namespace gemm {
namespace {

std::vector<const Stage*> generating(Operation op) {
  std::vector<const Stage*> found;
  for (const Stage& stage : stages()) {
    if (stage.op == op && stage.generated && !stage.generated.chosen) found.push_back(&stage);
  }
  return found;
}

TEST(Choice, TablesOfTheBuildCanBeRead) {
  ASSERT_FALSE(tuned_tables().empty());
  for (const TunedTable& table : tuned_tables()) {
    EXPECT_NE(table.device, "");
    for (const TunedKernel& kernel : table.kernels) {
      SCOPED_TRACE(table.device + ", " + kernel.stage + ", " + to_json(kernel.options).dump());
      const auto candidates = generating(kernel.op);
      const auto stage = std::ranges::find(candidates, kernel.stage, &Stage::id);
      ASSERT_NE(stage, candidates.end());
      const bool is_complex = kernel.type == Type::c64;
      const KernelOptions complete = (*stage)->generated.choose(kernel.m, kernel.n, is_complex, kernel.options);
      EXPECT_EQ(kernel_refusal(**stage, kernel.m, kernel.n, is_complex, complete), "");
      const Choice choice = choose_kernel(table, candidates, kernel.op, kernel.type, kernel.m, kernel.n, {});
      EXPECT_EQ(choice.stage, *stage);  // so no size is there twice
      EXPECT_EQ(choice.from, ChoiceFrom::tuned);
      EXPECT_EQ(choice.options, complete);
    }
  }
}

constexpr const char* example = R"({"device": "NVIDIA H200", "commit": "abc", "kernels": [
  {"op": "tsmttsm", "type": "d", "m": 16, "n": 16, "stage": "tsm/10_pipeline", "options": {"tile_m": 8, "tile_n": 8,
   "transposed": true, "leapfrog": false, "unroll": 4, "reduction": "ordered", "threads": 128}},
  {"op": "tsmttsm", "type": "d", "m": 4, "n": 4, "stage": "tsm/09_generated", "options": {"tile_m": 4, "tile_n": 2,
   "transposed": true, "leapfrog": false, "unroll": 2, "reduction": "local", "threads": 512}},
  {"op": "tsmm", "type": "z", "m": 8, "n": 8, "stage": "tsm/12_tsmm_generated", "options": {"threads_per_row": 4,
   "c_source": "global", "unroll": 1, "threads": 64}}],
  "short_mb": {"d": [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0],
   [0, 0], [0, 0], [0, 0], [0, 100], [1, 2.5]], "z": []}})";

TEST(Choice, TunedThenNeighbourThenRule) {
  const TunedTable table = parse_tuned_table("example", example);
  ASSERT_EQ(table.kernels.size(), 3u);
  const auto candidates = generating(Operation::tsmttsm);
  const auto choose = [&](Type type, int m, int n, const KernelOptions& asked = {}) {
    return choose_kernel(table, candidates, Operation::tsmttsm, type, m, n, asked);
  };
  const Choice same = choose(Type::f64, 16, 16);
  ASSERT_TRUE(same.stage);
  EXPECT_EQ(same.stage->id, "tsm/10_pipeline");
  EXPECT_EQ(same.options, table.kernels[0].options);
  EXPECT_EQ(same.from, ChoiceFrom::tuned);
  const Choice neighbour = choose(Type::f64, 16, 15);
  EXPECT_EQ(neighbour.stage->id, "tsm/10_pipeline");
  EXPECT_EQ(neighbour.options, table.kernels[0].options);
  EXPECT_EQ(neighbour.from, ChoiceFrom::neighbour);
  // By logarithms 7 x 7 is nearer to 4 x 4 (a factor 1.75) than to 16 x 16 (2.29), and 9 x 9 is not. But tiles of 4 x 2
  // and blocks of 512 threads are slow there, by the model.
  const Choice slow = choose(Type::f64, 7, 7);
  EXPECT_EQ(slow.stage->id, "tsm/09_generated");
  EXPECT_EQ(slow.from, ChoiceFrom::neighbour);
  EXPECT_EQ(slow.options, slow.stage->generated.choose(7, 7, false, {}));
  EXPECT_EQ(choose(Type::f64, 9, 9).stage->id, "tsm/10_pipeline");
  // A tile of 4 x 2 is larger than a C of 2 x 3: the stage's model chooses another.
  const Choice narrower = choose(Type::f64, 2, 3);
  EXPECT_EQ(narrower.stage->id, "tsm/09_generated");
  EXPECT_EQ(narrower.from, ChoiceFrom::neighbour);
  EXPECT_EQ(narrower.options, narrower.stage->generated.choose(2, 3, false, {}));
  // Where K is short it is 09, whatever was tuned for long K.
  const auto short_choice = [&](int m, int n, std::int64_t k) {
    return choose_kernel(table, candidates, Operation::tsmttsm, Type::f64, m, n, {}, k);
  };
  EXPECT_EQ(short_choice(16, 16, 390'000).stage->id, "tsm/09_generated");
  EXPECT_EQ(short_choice(16, 16, 390'000).options, candidates.front()->generated.choose(16, 16, false, {}));
  EXPECT_EQ(short_choice(16, 16, 391'000).stage->id, "tsm/10_pipeline");
  EXPECT_EQ(short_choice(15, 16, 403'000).stage->id, "tsm/09_generated");  // the wider one's limit
  EXPECT_EQ(short_choice(15, 15, 1).stage->id, "tsm/10_pipeline");
  EXPECT_EQ(short_choice(17, 17, 3'676).stage->id, "tsm/10_pipeline");
  EXPECT_EQ(short_choice(17, 17, 3'677).stage->id, "tsm/09_generated");
  EXPECT_EQ(short_choice(17, 17, 9'191).stage->id, "tsm/09_generated");
  EXPECT_EQ(short_choice(17, 17, 9'192).stage->id, "tsm/10_pipeline");
  EXPECT_EQ(short_choice(18, 17, 1).stage->id, "tsm/10_pipeline");
  // What is asked for has precedence, if need be with another stage.
  const Choice atomics = choose(Type::f64, 16, 16, {.reduction = Reduction::atomics});
  EXPECT_EQ(atomics.stage->id, "tsm/09_generated");
  EXPECT_EQ(atomics.options.reduction, Reduction::atomics);
  EXPECT_FALSE(choose(Type::f64, 4, 4, {.tile_m = 5}).stage);
  EXPECT_NE(choose(Type::f64, 4, 4, {.tile_m = 5}).reason, "");
  // Of complex numbers nothing was tuned.
  EXPECT_EQ(choose(Type::c64, 16, 16).from, ChoiceFrom::rule);
  EXPECT_EQ(choose(Type::c64, 12, 12).stage->id, "tsm/10_pipeline");
  EXPECT_EQ(choose(Type::c64, 40, 16).stage->id, "tsm/10_pipeline");
  EXPECT_EQ(choose(Type::c64, 40, 17).stage->id, "tsm/13b_tensor_cores");
  EXPECT_FALSE(choose_kernel(table, {}, Operation::tsmttsm, Type::f64, 4, 4, {}).stage);
  EXPECT_NE(choose_kernel(table, {}, Operation::tsmttsm, Type::f64, 4, 4, {}).reason, "");
}

TEST(Choice, RuleOfTsmm) {
  const auto id = [](Type type, int m, int n) {
    return choose_kernel(TunedTable{}, generating(Operation::tsmm), Operation::tsmm, type, m, n, {}).stage->id;
  };
  EXPECT_EQ(id(Type::f64, 2, 2), "tsm/12_tsmm_generated");
  EXPECT_EQ(id(Type::f64, 5, 1), "tsm/13c_tsmm_tensor_cores");
  EXPECT_EQ(id(Type::c64, 48, 17), "tsm/13c_tsmm_tensor_cores");
}

// Whatever was tuned, of rows without gaps.
TEST(Choice, PaddedRowsOfTsmmHaveARule) {
  const TunedTable table = parse_tuned_table("example", example);
  const auto choose = [&](Type type, int m, int n, LongSide side) {
    return choose_kernel(table, generating(Operation::tsmm), Operation::tsmm, type, m, n, {}, side);
  };
  EXPECT_EQ(choose(Type::c64, 8, 8, {}).from, ChoiceFrom::tuned);
  const Choice padded = choose(Type::c64, 8, 8, {1000, RowsOfB::padded});
  EXPECT_EQ(padded.from, ChoiceFrom::rule);
  EXPECT_EQ(padded.stage->id, "tsm/13c_tsmm_tensor_cores");
  EXPECT_EQ(padded.options.unroll, 1);
  EXPECT_EQ(padded.options.threads, 128);
  EXPECT_EQ(padded.options.turns, 1);
  const Choice wide = choose(Type::f64, 32, 32, {1000, RowsOfB::padded});
  EXPECT_EQ(wide.options.unroll, 2);
  EXPECT_EQ(wide.options.threads, 256);
  EXPECT_EQ(wide.options.turns, 0);
  // With two times 16 rows stages would not fit into shared memory, or only those of few warps.
  EXPECT_EQ(choose(Type::f64, 61, 23, {1000, RowsOfB::padded}).options.unroll, 1);
  EXPECT_EQ(choose(Type::c64, 64, 64, {1000, RowsOfB::padded}).options.threads, 256);
  EXPECT_EQ(choose(Type::f64, 1, 1, {1000, RowsOfB::padded}).stage->id, "tsm/13c_tsmm_tensor_cores");
  const Choice displaced = choose(Type::f64, 8, 8, {1000, RowsOfB::displaced});
  EXPECT_EQ(displaced.stage->id, "tsm/13c_tsmm_tensor_cores");
  EXPECT_EQ(displaced.options.unroll, 4);
}

TEST(Choice, EverySizeHasAKernel) {
  for (const Operation op : {Operation::tsmttsm, Operation::tsmm}) {
    for (const Type type : {Type::f64, Type::c64}) {
      for (int m = 1; m <= 64; m += 9) {
        for (int n = 1; n <= 64; n += 7) {
          const Choice choice = choose_kernel(op, type, m, n);
          ASSERT_TRUE(choice.stage) << m << " x " << n << ": " << choice.reason;
          // What is asked for completely is what comes back: requests are made of it.
          EXPECT_EQ(choose_kernel(op, type, m, n, choice.options).options, choice.options) << m << " x " << n;
        }
      }
    }
  }
}

TEST(Choice, TheTableOfTheNearestGpu) {
  const std::vector<TunedTable> tables = {
      {"NVIDIA A100-SXM4-80GB", "", {}}, {"NVIDIA H200", "", {}}, {"NVIDIA GH200 480GB", "", {}}};
  EXPECT_EQ(nearest_table(tables, "NVIDIA GH200 480GB"), &tables[2]);
  EXPECT_EQ(nearest_table(tables, "NVIDIA H200 NVL"), &tables[1]);
  EXPECT_EQ(nearest_table(tables, "NVIDIA GH200 96GB"), &tables[2]);
  EXPECT_EQ(nearest_table(tables, "NVIDIA GeForce RTX 4090"), &tables[1]);
  EXPECT_EQ(nearest_table(tables, ""), &tables[1]);
  EXPECT_EQ(nearest_table({}, "NVIDIA H200"), nullptr);
}

TEST(Choice, WhatATableLeavesOutIsAsBefore) {
  const std::vector<TunedKernel> kernels = parse_tuned_table("example", R"({"device": "a", "commit": "b", "kernels": [
  {"op": "tsmttsm", "type": "d", "m": 4, "n": 3, "stage": "tsm/10_pipeline", "options": {"tile_m": 8, "unroll": 4}},
  {"n": 5, "options": {"unroll": 2}}, {"type": "z", "m": 6},
  {"stage": "tsm/09_generated", "options": {"tile_n": 3}}]})")
                                               .kernels;
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_EQ(kernels[1].options, (KernelOptions{.tile_m = 8, .unroll = 2}));
  EXPECT_EQ(kernels[3].options, KernelOptions{.tile_n = 3});
  EXPECT_EQ(kernels[2].op, Operation::tsmttsm);
  EXPECT_EQ(kernels[2].type, Type::c64);
  EXPECT_EQ(kernels[2].m, 6);
  EXPECT_EQ(kernels[2].n, 5);
  EXPECT_EQ(kernels[2].stage, "tsm/10_pipeline");
  EXPECT_EQ(kernels[2].options, kernels[1].options);
  EXPECT_NE(kernels[1].options, kernels[0].options);
}

TEST(Choice, WrongTablesAreRefused) {
  const auto refused = [](const std::string& from, const std::string& to, const char* word) {
    std::string text = example;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      parse_tuned_table("some.json", text);
      ADD_FAILURE() << to;
    } catch (const UsageError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("some.json: ")) << error.what();
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  refused("\"kernels\"", "\"kernel\"", "kernels");
  refused("]}", "", "parse");
  refused("\"op\": \"tsmttsm\"", "\"op\": \"gemm\"", "gemm");
  refused("\"type\": \"d\"", "\"type\": \"s\"", "'s'");
  refused("\"m\": 16", "\"m\": 0", "positive");
  refused("\"tile_m\": 8", "\"tile_q\": 8", "tile_q");
  refused("\"tile_m\": 8", "\"c_source\": \"global\"", "TSMM");
}

}  // namespace
}  // namespace gemm

// Units that need no device: registry, options, statistics, roofline, JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "common/backend/device.hpp"
#include "common/check/compare.hpp"
#include "common/commands/options.hpp"
#include "common/measure/roofline.hpp"
#include "common/problem/registry.hpp"
#include "common/problem/shapes.hpp"
#include "common/problem/stage_id.hpp"
#include "common/report/files.hpp"
#include "common/report/json.hpp"
#include "common/report/kernel_options_json.hpp"
#include "common/report/text_table.hpp"
#include "common/report/thread_drawing.hpp"
#include "common/report/verdict.hpp"
#include "tsm/generated/model.hpp"
#include "tsm/generated/tsmm_model.hpp"

namespace gemm {
namespace {

TEST(TextTable, ColumnsAreAsWideAsWhatIsInThem) {
  TextTable table({{{"stage"}}, {{"ms", "median"}, true}, {{"", "remark"}}});
  table.add({"a/01_long_name", "1.5", "\033[31mé\033[0m"});
  table.add({"b", "1234567.5", ""});
  table.add({"c", "skip: a remark over all that is left"});
  EXPECT_EQ(table.text(80),
            "stage                  ms\n"
            "                   median  remark\n"
            "a/01_long_name        1.5  \033[31mé\033[0m\n"
            "b               1234567.5\n"
            "c               skip: a remark over all that is left\n");
}

TEST(TextTable, LeavesOutWhatIsNeededLeastWhereItIsNarrow) {
  TextTable table({{{"stage"}}, {{"second"}, true, 2}, {{"first"}, true, 1}, {{"source"}}});
  table.add({"a/01", "2", "1", "for (int i = 0; i < n; ++i) sum += a[i];"});
  EXPECT_EQ(table.text(200),
            "stage  second  first  source\n"
            "a/01        2      1  for (int i = 0; i < n; ++i) sum += a[i];\n");
  // The text is cut first, down to 20 letters; numbers are left out, and never cut.
  EXPECT_EQ(table.text(46).substr(0, 28), "stage  second  first  source");
  for (std::size_t width : {46, 40, 33}) {
    const std::string text = table.text(width);
    for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      EXPECT_LE(end - at, width) << text;
    }
  }
  EXPECT_EQ(table.text(40).find("second"), std::string::npos);
  EXPECT_NE(table.text(40).find("first"), std::string::npos);
  EXPECT_EQ(table.text(33).find("first"), std::string::npos);
}

TEST(TextTable, AColumnWithNothingInItIsNotShownIfItCanBeSpared) {
  TextTable table({{{"stage"}}, {{"needed"}}, {{"spared"}, false, 1}});
  table.add({"a", "", ""});
  EXPECT_EQ(table.text(80), "stage  needed\na\n");
}

TEST(Registry, IdComesFromThePath) {
  EXPECT_EQ(stage_id_from_path("/somewhere/stages/02_coalesced.cu"), "sgemm/02_coalesced");
  EXPECT_EQ(stage_id_from_path("stages/09a_float4.cu"), "sgemm/09a_float4");
  EXPECT_EQ(stage_id_from_path("/x/tsm/01_read.cu"), "tsm/01_read");
  EXPECT_EQ(stage_id_from_path("/x/tensorcore/10_batched.cu"), "tensorcore/10_batched");
}

TEST(Registry, RefusesOtherFileNames) {
  for (const char* path : {"", "02_coalesced.cu", "stages/coalesced.cu", "stages/2_coalesced.cu",
                           "stages/02coalesced.cu", "stages/02_.cu", "stages/02_coalesced.cpp", "/02_coalesced.cu"}) {
    EXPECT_THROW(stage_id_from_path(path), std::logic_error) << path;
  }
}

TEST(Registry, HoldsEveryStageOnceInOrder) {
  ASSERT_GE(stages().size(), 4u);
  std::set<std::string> ids;
  for (const Stage& stage : stages()) {
    EXPECT_TRUE(ids.insert(stage.id).second) << stage.id;
    EXPECT_EQ(*ids.rbegin(), stage.id) << "out of order";
    EXPECT_FALSE(stage.idea.empty()) << stage.id;
    EXPECT_NE(stage.launch, nullptr) << stage.id;
    if (family_of(stage) != "sgemm") continue;
    ASSERT_NE(stage.l1_cycles, nullptr) << stage.id << " makes no prediction";
    EXPECT_GT(l1_cycles(stage, parse_shape("64")).sum(), 0) << stage.id;
  }
}

TEST(Registry, FindsByEveryName) {
  const Stage& stage = find_stage("sgemm/02_coalesced");
  EXPECT_EQ(&find_stage("02"), &stage);
  EXPECT_EQ(&find_stage("02_coalesced"), &stage);
  EXPECT_EQ(&find_stage("sgemm/02"), &stage);
  for (const char* name : {"", "2", "99", "tsm/98", "coalesced", "sgemm/"})
    EXPECT_THROW(find_stage(name), UsageError) << name;
}

// A build of some stages need not have their bases: that all files have them is looked at by tests/stages/test_rungs.py.
TEST(Registry, EveryBaseIsAStageFurtherDownTheTree) {
  const auto built = [](std::string_view name) -> const Stage* {
    try {
      return &find_stage(name);
    } catch (const UsageError&) {
      return nullptr;
    }
  };
  for (const Stage& stage : stages()) {
    std::set<std::string_view> path;
    for (const Stage* at = &stage; at && !at->base.empty(); at = built(at->base)) {
      ASSERT_TRUE(path.insert(at->id).second) << stage.id << ": its bases form a circle";
    }
  }
}

TEST(Registry, VariantsHaveNamesOfTheirOwn) {
  for (const Stage& stage : stages()) {
    for (const Stage& form : variants(stage)) {
      const std::string name = form.id.substr(stage.id.size());
      EXPECT_EQ(&find_stage(form.id), &form);
      if (stage.id.starts_with("sgemm/")) {  // bare numbers mean SGEMM
        EXPECT_EQ(&find_stage(stage.number + name), &form);
      }
      EXPECT_EQ(form.file, stage.file);
      EXPECT_FALSE(form.idea.empty()) << form.id;
      EXPECT_NE(form.launch, nullptr) << form.id;
      EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=-", 1),
                std::string::npos)
          << form.id;
    }
    EXPECT_THROW(find_stage(stage.id + ":"), UsageError);
    EXPECT_THROW(find_stage(stage.id + ":no such"), UsageError);
  }
}

TEST(Registry, TwoStagesCannotShareAnId) {
  EXPECT_THROW(Registration("stages/02_coalesced.cu", StageInfo{}), std::logic_error);
}

TEST(Architectures, RunWithinTheirMajorVersionOnly) {
  EXPECT_TRUE(architectures_cover("75-real,80-real,90a-real", 75));
  EXPECT_TRUE(architectures_cover("80-real", 86));
  EXPECT_TRUE(architectures_cover("75-real,90a-real", 90));
  EXPECT_FALSE(architectures_cover("86-real", 80));
  EXPECT_FALSE(architectures_cover("75-real,80-real", 90));
  EXPECT_FALSE(architectures_cover("90a-real", 100));
  EXPECT_FALSE(architectures_cover("100-real", 120));
  EXPECT_FALSE(architectures_cover("", 90));
}

TEST(Options, ParsesShapes) {
  const ProblemSpec spec = parse_shape("333x777x1555");
  EXPECT_EQ(spec.m, 333);
  EXPECT_EQ(spec.n, 777);
  EXPECT_EQ(spec.k, 1555);
  EXPECT_EQ(parse_shape("64").k, 64);
  EXPECT_EQ(parse_shape("0").m, 0);
  for (const char* text :
       {"", "x", "1x2", "1x2x", "1x2x3x4", "12x", "1x2x3x", "-1", "1x-2x3", "12a", " 3", "99999999999"}) {
    EXPECT_THROW(parse_shape(text), UsageError) << text;
  }
}

TEST(Options, StandardShapesAreWellFormed) {
  for (const std::string& shape : standard_shapes()) EXPECT_NO_THROW(parse_shape(shape).validate()) << shape;
  for (const std::string& shape : calibration_shapes()) {
    EXPECT_TRUE(std::ranges::count(standard_shapes(), shape)) << shape << " is calibrated and not measured";
  }
}

TEST(Options, SweepsAndRandomShapes) {
  const auto dense = sweep_shapes(128);
  EXPECT_EQ(dense.size(), 40u);
  EXPECT_EQ(dense.front(), "128");
  EXPECT_EQ(dense[31], "4096");
  EXPECT_EQ(dense[32], "4608");
  EXPECT_EQ(dense.back(), "8192");
  EXPECT_EQ(sweep_shapes(4096), (std::vector<std::string>{"4096", "8192"}));
  EXPECT_THROW(sweep_shapes(8), UsageError);
  EXPECT_THROW(sweep_shapes(-128), UsageError);

  EXPECT_EQ(random_shapes(1), random_shapes(1));
  EXPECT_NE(random_shapes(1), random_shapes(2));
  EXPECT_EQ(random_shapes(1).size(), 10u);
  for (const std::string& shape : random_shapes(3)) {
    const ProblemSpec spec = parse_shape(shape);
    for (const std::int64_t size : {std::int64_t{spec.m}, std::int64_t{spec.n}, spec.k})
      EXPECT_TRUE(size >= 200 && size <= 8192) << shape;
  }
}

TEST(Problem, RefusesImpossibleOnes) {
  const auto with = [](auto change) {
    ProblemSpec spec = parse_shape("4x5x6");
    change(spec);
    return spec;
  };
  EXPECT_NO_THROW(with([](ProblemSpec& s) { s.lda = 6, s.ldb = 5, s.ldc = 5; }).validate());
  EXPECT_NO_THROW(with([](ProblemSpec& s) { s.m = s.n = s.k = 0; }).validate());
  EXPECT_THROW(with([](ProblemSpec& s) { s.m = -1; }).validate(), UsageError);
  EXPECT_THROW(with([](ProblemSpec& s) { s.lda = 5; }).validate(), UsageError);
  EXPECT_THROW(with([](ProblemSpec& s) { s.ldb = 4; }).validate(), UsageError);
  EXPECT_THROW(with([](ProblemSpec& s) { s.ldc = -5; }).validate(), UsageError);
  EXPECT_THROW(with([](ProblemSpec& s) { s.offset = -1; }).validate(), UsageError);
}

TEST(Problem, CountsFlopsAndBytes) {
  ProblemSpec spec = parse_shape("10x20x30");
  EXPECT_DOUBLE_EQ(spec.flops(), 12000);
  EXPECT_DOUBLE_EQ(spec.compulsory_bytes(), 4 * (300 + 600 + 200));
  spec.beta = 1;
  EXPECT_DOUBLE_EQ(spec.compulsory_bytes(), 4 * (300 + 600 + 400));
}

TEST(Problem, CountsFlopsAndBytesOfTallOnes) {
  ProblemSpec spec = parse_shape("3x5x1000");
  set_kind(spec, Operation::tsmttsm, std::nullopt);
  EXPECT_EQ(spec.type, Type::f64);
  EXPECT_DOUBLE_EQ(spec.flops(), 30000);
  EXPECT_DOUBLE_EQ(spec.compulsory_bytes(), 8 * (3000 + 5000 + 15));
  EXPECT_EQ(spec.terms(), 1000);
  set_kind(spec, Operation::tsmm, Type::c64);
  spec.beta_imag = 1;
  EXPECT_DOUBLE_EQ(spec.flops(), 120000);
  EXPECT_DOUBLE_EQ(spec.compulsory_bytes(), 16 * (3000 + 15 + 2 * 5000));
  EXPECT_EQ(spec.terms(), 3);
  EXPECT_THROW(set_kind(spec, Operation::tsmm, Type::f32), UsageError);
  EXPECT_THROW(set_kind(spec, Operation::gemm, Type::f64), UsageError);
}

TEST(Problem, RefusesWhatMakesNoSense) {
  const auto refused = [](Operation op, Type type, auto change) {
    ProblemSpec spec = parse_shape("3x5x7");
    set_kind(spec, op, type);
    EXPECT_NO_THROW(spec.validate());
    change(spec);
    EXPECT_THROW(spec.validate(), UsageError);
  };
  refused(Operation::tsmttsm, Type::f64, [](ProblemSpec& s) { s.conjugate = true; });
  refused(Operation::tsmm, Type::c64, [](ProblemSpec& s) { s.conjugate = true; });
  refused(Operation::tsmm, Type::f64, [](ProblemSpec& s) { s.alpha_imag = 1; });
  refused(Operation::tsmm, Type::c64, [](ProblemSpec& s) { s.beta_imag = NAN; });
  refused(Operation::tsmttsm, Type::c64, [](ProblemSpec& s) { s.lda = 2; });
  refused(Operation::gemm, Type::f32, [](ProblemSpec& s) { s.k = std::int64_t{1} << 31; });
  refused(Operation::gemm, Type::f32, [](ProblemSpec& s) { s.alpha = 1e39; });
}

TEST(Samples, Statistics) {
  Samples samples;
  samples.ms = {5, 1, 4, 2, 3};
  EXPECT_DOUBLE_EQ(samples.median(), 3);
  EXPECT_DOUBLE_EQ(samples.min(), 1);
  EXPECT_DOUBLE_EQ(samples.p90(), 5);
  samples.ms = {4, 1, 2, 3};
  EXPECT_DOUBLE_EQ(samples.median(), 2.5);
  EXPECT_DOUBLE_EQ(Samples{}.median(), 0);
}

TEST(Samples, NamesThrottleReasons) {
  EXPECT_EQ(throttle_text(0x1), "");
  EXPECT_EQ(throttle_text(0x4 | 0x40), "SW power cap, HW thermal slowdown");
}

const Ceilings round_ceilings = {
    .read_gbs = 4000, .copy_gbs = 3800, .ffma_gflops = 64000, .shared_gbs = 32000, .launch_us = 2};

TEST(Roofline, ProblemIsBoundByTheSlowerResource) {
  const Floor compute = problem_floor(parse_shape("4096"), round_ceilings);
  EXPECT_EQ(compute.by, "FP32 cores");
  EXPECT_NEAR(compute.ms, 2.0 * 4096 * 4096 * 4096 / 64e12 * 1e3, 1e-9);
  const Floor memory = problem_floor(parse_shape("4096x4096x2"), round_ceilings);
  EXPECT_EQ(memory.by, "device memory");
  EXPECT_NEAR(memory.ms, 4.0 * (4096 * 4096 + 2 * 2 * 4096) / 4e12 * 1e3, 1e-9);
}

TEST(Roofline, Fp32ProductsOnTensorCoresShareThoseOfFp16) {
  Ceilings ceilings = round_ceilings;
  ceilings.hmma_gflops = 600000;
  const Floor floor = problem_floor(parse_shape("4096"), ceilings, false, 3);
  EXPECT_EQ(floor.by, "Tensor Cores");
  EXPECT_NEAR(floor.ms, 3 * 2.0 * 4096 * 4096 * 4096 / 600e12 * 1e3, 1e-9);
  Stage stage;
  stage.emulation.fp16_products = 3;
  EXPECT_EQ(stage_prediction(stage, parse_shape("4096"), ceilings, 16384, 132).by, "Tensor Cores");
  EXPECT_NEAR(stage_prediction(stage, parse_shape("4096"), ceilings, 16384, 132).ms, floor.ms, 1e-9);
}

TEST(Registry, LaddersAreOfOneFamily) {
  for (const Stage* stage : stages_for(Operation::gemm, Type::f32)) EXPECT_EQ(family_of(*stage), "sgemm");
  for (const Stage* stage : stages_for(Operation::gemm, Type::f32, "tensorcore")) {
    EXPECT_EQ(family_of(*stage), "tensorcore");
    EXPECT_EQ(stage->type, Type::f32);
  }
  for (const Stage* stage : stages_for(Operation::tsmm, Type::f64)) EXPECT_EQ(family_of(*stage), "tsm");
}

TEST(Roofline, StageIsBoundByItsUseOfL1) {
  Stage stage;
  stage.l1_cycles = [](const SgemmProblem&) { return L1Cycles{.shared = 2}; };
  const ProblemSpec spec = parse_shape("4096");
  const Floor full = stage_prediction(stage, spec, round_ceilings, 16384, 132);
  EXPECT_EQ(full.by, "shared memory: 2 cycles/FMA");
  EXPECT_NEAR(full.ms, 4096.0 * 4096 * 4096 / 32 * 2 * 128 / 32e12 * 1e3, 1e-6);
  const Floor lonely = stage_prediction(stage, spec, round_ceilings, 33, 132);
  EXPECT_NEAR(lonely.ms, 4 * full.ms, 1e-6);
  EXPECT_NE(lonely.by.find("33 of 132 SMs busy"), std::string::npos);
  EXPECT_EQ(stage_prediction(stage, parse_shape("8"), round_ceilings, 1, 132).by, "launch");
}

TEST(Roofline, PredictsWithoutADevice) {
  // Stage 01 reads 32 rows of A at a time: which bank they meet in depends on the leading dimension.
  const Stage& naive = find_stage("01");
  const ProblemSpec even = parse_shape("2048");
  EXPECT_NEAR(predicted_share_of_peak(naive, even), 0.25 / 33, 1e-12);
  EXPECT_EQ(predicted_bound(naive, even), "L1 cache: 33 cycles/FMA");
  EXPECT_NEAR(predicted_share_of_peak(naive, parse_shape("2032")), 0.25 / 17, 1e-12);
  EXPECT_NEAR(predicted_share_of_peak(naive, parse_shape("2047")), 0.25 / 8.25, 1e-12);
  EXPECT_EQ(predicted_bound(Stage{}, even), "FP32 cores");
}

TEST(Roofline, LatencyBoundsWhoWaits) {
  Ceilings ceilings = round_ceilings;
  ceilings.scale_gbs = 3000;
  ceilings.dfma_gflops = 32000;
  ceilings.latency_ns = 500;
  ProblemSpec spec = parse_shape("16x16x1000000");
  set_kind(spec, Operation::tsmttsm, Type::f64);
  const Floor alone = stage_prediction(find_stage("tsm/01"), spec, ceilings, 2, 132);
  EXPECT_EQ(alone.by, "latency");
  EXPECT_NEAR(alone.ms, 1e6 / 2 * 500e-6, 1e-6);
  const Floor split = stage_prediction(find_stage("tsm/02"), spec, ceilings, 1056, 132);
  EXPECT_EQ(split.by, "latency");
  EXPECT_NEAR(split.ms, alone.ms / 1056, 1e-6);
}

TEST(Roofline, TallOnesHaveTheirOwnCeilings) {
  Ceilings ceilings = round_ceilings;
  ceilings.scale_gbs = 3000;
  ceilings.dfma_gflops = 32000;
  ProblemSpec spec = parse_shape("8x8x1000000");
  set_kind(spec, Operation::tsmttsm, Type::f64);
  EXPECT_NEAR(problem_floor(spec, ceilings).ms, 8.0 * 16e6 / 4e12 * 1e3, 1e-6);
  set_kind(spec, Operation::tsmm, Type::f64);
  EXPECT_NEAR(problem_floor(spec, ceilings).ms, 8.0 * 16e6 / 3e12 * 1e3, 1e-6);
  spec = parse_shape("64x64x1000000");
  set_kind(spec, Operation::tsmttsm, Type::c64);
  const Floor compute = problem_floor(spec, ceilings);
  EXPECT_EQ(compute.by, "FP64 cores");
  EXPECT_NEAR(compute.ms, 8.0 * 64 * 64 * 1e6 / 32e12 * 1e3, 1e-9);
  ceilings.dmma_gflops = 48000;
  EXPECT_NEAR(problem_floor(spec, ceilings).ms, compute.ms, 1e-9);
  EXPECT_EQ(problem_floor(spec, ceilings, true).by, "FP64 Tensor Cores");
  EXPECT_NEAR(problem_floor(spec, ceilings, true).ms, compute.ms / 1.5, 1e-9);
}

TEST(Tolerance, GrowsWithTheSquareRootOfK) {
  EXPECT_DOUBLE_EQ(tolerance(Accuracy::fp64, 1 << 30), 0x1p15 * 0x1p-51);
  EXPECT_DOUBLE_EQ(tolerance(Accuracy::fp32, 1), 0x1p-22);
  EXPECT_DOUBLE_EQ(tolerance(Accuracy::fp32, 1024), 32 * 0x1p-22);
  EXPECT_DOUBLE_EQ(tolerance(Accuracy::fp32, 0), 0x1p-22);
}

TEST(Comparison, NanDoesNotPass) {
  Comparison comparison;
  EXPECT_TRUE(comparison.passed());
  comparison.max_ratio = NAN;
  EXPECT_FALSE(comparison.passed());
  comparison.max_ratio = 0;
  comparison.frobenius_ratio = NAN;
  EXPECT_FALSE(comparison.passed());
  EXPECT_FALSE(comparison.reason().empty());
}

Result sample_result() {
  Result result;
  result.id = stages().front().id;
  result.stage = &stages().front();
  result.spec = parse_shape("64x32x16");
  result.checked = true;
  return result;
}

// The rest of a result's JSON names the device: see Report in test_check.cpp.
TEST(Report, CountsOutcomes) {
  std::vector<Result> results(3, sample_result());
  EXPECT_EQ(exit_status(results), 0);
  results[1].verdict.outcome = Outcome::skip;
  EXPECT_EQ(exit_status(results), 0);
  results[2].verdict.outcome = Outcome::fail;
  EXPECT_EQ(exit_status(results), 1);
}

TEST(Report, ColdResultAboveTheRooflineIsAnError) {
  Result result = sample_result();
  result.spec = parse_shape("4096");
  result.timed.emplace();
  result.timed->own.ms = {problem_floor(result.spec, round_ceilings).ms / 1.2};
  TimingOptions timing;
  EXPECT_TRUE(implausible(result, round_ceilings, timing).empty()) << "warm results may live in the cache";
  timing.cold = true;
  EXPECT_FALSE(implausible(result, round_ceilings, timing).empty());
  result.timed->own.ms = {problem_floor(result.spec, round_ceilings).ms * 1.2};
  EXPECT_TRUE(implausible(result, round_ceilings, timing).empty());
}

TEST(Report, WritesWholeFilesOrNone) {
  const auto directory = std::filesystem::temp_directory_path() / ("gemm_report_" + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  const std::string path = directory / "out.json";
  write_text(path, "one\n");
  write_text(path, "two\n");
  std::string text;
  std::getline(std::ifstream(path), text);
  EXPECT_EQ(text, "two");
  EXPECT_THROW(write_text(directory / "missing" / "out.json", "x"), UsageError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1) << "something was left behind";
  std::filesystem::remove_all(directory);
}

// The model of generated kernels: for each size a kernel that can be launched, and its line of registers.
TEST(ThreadDrawing, Ranges) {
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({3}), "3");
  EXPECT_EQ(ranges({0, 1, 2, 3, 16, 17, 20}), "0-3, 16-17, 20");
  EXPECT_EQ(ranges({0, 2, 4, 6, 8, 10, 12, 14, 16}), "0, 2, 4, ..., 16");
}

// 64 threads, 8 in a row, and each writes 2 x 4 elements.
TEST(ThreadDrawing, WarpsBesideLanes) {
  ThreadMap map{{8, 8, 1}, {}};
  for (int row = 0; row < 16; ++row) {
    map.rows.emplace_back();
    for (int col = 0; col < 32; ++col) map.rows.back().push_back(row / 2 * 8 + col / 4);
  }
  const std::string text = drawing(map, false);
  EXPECT_NE(text.find("a character is an element              a character is an element\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n   7 00000000000000000000000000000000     7 oooo"), std::string::npos) << text;
  EXPECT_NE(text.find("\n   8 11111111111111111111111111111111     8 00001111"), std::string::npos) << text;
  EXPECT_NE(text.find("Thread 0 writes 8 elements:\n  rows 0-1\n  columns 0-3\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(drawing(map, true).find("\033[1;7;31m0"), std::string::npos);
}

// What is too large is scaled down, each picture as far as it must; what does not fit even so is cut off, and that is said.
TEST(ThreadDrawing, FitsATerminal) {
  ThreadMap map{{128, 1, 1}, {}};
  for (int row = 0; row < 128; ++row) {
    map.rows.emplace_back();
    for (int col = 0; col < 128; ++col)
      map.rows.back().push_back(row / 64 * 64 + col / 64 * 32 + row % 4 * 8 + col / 2 % 8);
  }
  const std::string text = drawing(map, false);
  EXPECT_NE(text.find("a character is 4 x 4 elements          a character is 1 x 2 elements\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find(" rows 0-31, columns 0-63\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n 124 22222222222222223333333333333333    31 opqrstuvopqr"), std::string::npos) << text;
  std::size_t length = 0;
  for (const char c : text) {
    length = c == '\n' ? 0 : length + 1;
    EXPECT_LE(length, 80u);
  }
}

TEST(GeneratedKernels, EverySizeHasOne) {
  for (const bool is_complex : {false, true}) {
    for (int m = 1; m <= 64; m += 7) {
      for (int n = 1; n <= 64; n += 9) {
        const KernelOptions o = generated::choose<generated::each_tsmttsm>(m, n, is_complex, {});
        EXPECT_EQ(generated::refusal(m, n, is_complex, o), "") << m << " x " << n;
        EXPECT_LE(generated::register_line(o, is_complex), 255) << m << " x " << n;
        const auto slices = generated::slices_of(is_complex ? 16 : 8, m, n, o.tile_m, o.tile_n, o.threads);
        EXPECT_GE(slices.count, 1);
        EXPECT_LE(slices.stored, slices.count / 2);
        EXPECT_LE(slices.shared_bytes, 100 * 1024);
        EXPECT_LE(generated::resident_blocks(o, is_complex) * o.threads, 2048);
        EXPECT_TRUE(o.transposed && o.leapfrog && o.reduction && o.unroll > 0);
      }
    }
  }
}

TEST(GeneratedKernels, WhatIsAskedForIsKept) {
  const KernelOptions asked = {.tile_m = 3, .leapfrog = false, .unroll = 5, .reduction = Reduction::local};
  const KernelOptions o = generated::choose<generated::each_tsmttsm>(10, 20, false, asked);
  EXPECT_EQ(o.tile_m, 3);
  EXPECT_GT(o.tile_n, 0);
  EXPECT_EQ(o.leapfrog, false);
  EXPECT_EQ(o.transposed, true);
  EXPECT_EQ(o.unroll, 5);
  EXPECT_EQ(o.reduction, Reduction::local);
  EXPECT_EQ(o.threads, 256);
  EXPECT_FALSE(
      generated::refusal(2, 20, false, generated::choose<generated::each_tsmttsm>(2, 20, false, asked)).empty());
  EXPECT_FALSE(generated::refusal(64, 64, false,
                                  generated::choose<generated::each_tsmttsm>(64, 64, false, {.tile_m = 1, .tile_n = 1}))
                   .empty());
}

TEST(GeneratedKernels, OptionsComeBackFromJson) {
  for (const int m : {1, 7, 16, 64}) {
    for (const bool is_complex : {false, true}) {
      for (const KernelOptions& o :
           {generated::choose<generated::each_tsmttsm>(m, m, is_complex, {}),
            generated::choose<generated::each_tsmm>(m, m, is_complex, {}),
            KernelOptions{.leapfrog = false, .reduction = Reduction::atomics}, KernelOptions{}}) {
        EXPECT_EQ(kernel_options_from_json(to_json(o)), o) << to_json(o).dump();
        EXPECT_EQ(kernel_options_from_json(Json::parse(to_json(o).dump())), o);
      }
    }
  }
  for (const char* wrong : {"[]", "3", "{\"tile\": 3}", "{\"tile_m\": 0}", "{\"tile_m\": -2}", "{\"tile_m\": 2.5}",
                            "{\"tile_m\": 5000}", "{\"tile_m\": \"2\"}", "{\"leapfrog\": 1}",
                            "{\"reduction\": \"sorted\"}", "{\"reduction\": 2}", "{\"c_source\": \"l1\"}"})
    EXPECT_THROW(kernel_options_from_json(Json::parse(wrong)), UsageError) << wrong;
}

// The same for TSMM.
TEST(GeneratedKernels, EverySizeOfTsmmHasOne) {
  for (const bool is_complex : {false, true}) {
    for (int m = 1; m <= 64; m += 7) {
      for (int n = 1; n <= 64; n += 9) {
        for (const bool shared : {false, true}) {
          KernelOptions asked;
          if (shared) asked.c_source = CSource::shared;
          const KernelOptions o = generated::choose<generated::each_tsmm>(m, n, is_complex, asked);
          EXPECT_EQ(generated::tsmm_refusal(m, n, is_complex, o), "") << m << " x " << n;
          EXPECT_LE(generated::tsmm_registers(m, n, is_complex, o), 255) << m << " x " << n;
          EXPECT_LE(generated::tsmm_resident(m, n, is_complex, o) * o.threads, 2048);
          EXPECT_TRUE(o.c_source && o.threads_per_row > 0 && o.unroll > 0 && o.threads % 32 == 0);
        }
      }
    }
  }
  const auto why = [](int m, int n, bool is_complex, const KernelOptions& asked) {
    return generated::tsmm_refusal(m, n, is_complex, generated::choose<generated::each_tsmm>(m, n, is_complex, asked));
  };
  EXPECT_NE(why(64, 64, false, {.c_source = CSource::registers}).find("registers"), std::string::npos);
  EXPECT_NE(why(8, 2, false, {.threads_per_row = 4}).find("nothing to do"), std::string::npos);
  EXPECT_NE(why(8, 8, false, {.unroll = 5}).find("up to 4"), std::string::npos);
  EXPECT_NE(why(256, 256, false, {.c_source = CSource::shared}).find("shared memory"), std::string::npos);
  EXPECT_EQ(why(8, 3, false, {.threads_per_row = 4}), "");
}

// Every row and place has one thread, and a row's threads are neighbours.
TEST(GeneratedKernels, RowsOfTsmmAreWhole) {
  for (const int per_row : generated::per_row_choices) {
    std::vector<int> seen(256);
    for (int thread = 0; thread < 256; ++thread) {
      const auto [row, place] = generated::row_thread(per_row, thread);
      ASSERT_TRUE(place >= 0 && place < per_row && row >= 0 && row < 256 / per_row);
      ++seen[row * per_row + place];
      EXPECT_EQ(row / (32 / per_row), thread / 32) << "a warp has neighbouring rows";
      if (per_row == 1) continue;
      EXPECT_EQ(generated::row_thread(per_row, thread ^ 1).row, row);
      EXPECT_EQ(generated::row_thread(per_row, thread ^ 2).place, place);
    }
    EXPECT_EQ(seen, std::vector<int>(256, 1));
  }
}

TEST(GeneratedKernels, RegisterLine) {
  // 2 (TM TN + 2 (TM + TN) + 8) with leapfrogging; without, half as many rows are held; complex: twice the words.
  const KernelOptions o = {.tile_m = 4, .tile_n = 8, .transposed = true, .leapfrog = true, .unroll = 1, .threads = 256};
  EXPECT_EQ(generated::register_line(o, false), 2 * (32 + 2 * 12 + 8));
  EXPECT_EQ(generated::register_line(o, true), 2 * (64 + 4 * 12 + 8));
  KernelOptions plain = o;
  plain.leapfrog = false;
  EXPECT_EQ(generated::register_line(plain, false), 2 * (32 + 12 + 8));
  // M = N = 16, tiles of 4 x 4, interleaved: a warp has two slices, whose rows of 128 bytes lie on the same banks. B:
  // half a warp wants four neighbours: one wavefront, twice; A: four columns for four lanes each, the same.
  KernelOptions square = o;
  square.tile_n = 4;
  EXPECT_DOUBLE_EQ(generated::row_cycles(16, 16, false, square).l1, 0.5 * (4 * 2 + 4 * 2));
  EXPECT_DOUBLE_EQ(generated::row_cycles(16, 16, false, square).fma, 0.5 * 16 * 0.5);
}

}  // namespace
}  // namespace gemm

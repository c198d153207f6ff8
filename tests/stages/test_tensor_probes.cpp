// The probes of tensorcore/: what their kernels find and compute, that flawed ones are noticed, and what nvcc makes of
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "common/backend/device.hpp"
#include "common/commands/probe.hpp"
#include "common/problem/registry.hpp"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"
#include "tensorcore/batches.hpp"
#include "tensorcore/fragment_kinds.hpp"
#include "tensorcore/scan_rows.hpp"
#include "tensorcore/transforms.hpp"
#include "tests/device_test.hpp"
#include "tests/stages/scan_kernels.hpp"
#include "tests/stages/transform_kernels.hpp"

namespace gemm {
namespace {

class TensorProbes : public DeviceTest {
 protected:
  // A build may be without it (GEMM_STAGES).
  static ProbeReport checked(const char* number) {
    const Probe* probe = find_numbered_probe(number);
    return probe ? probe->run({}) : ProbeReport{};
  }
  static void expect_all(const std::vector<Json>& results, const std::string& status) {
    EXPECT_FALSE(results.empty());
    for (const Json& result : results) EXPECT_EQ(result["status"], status) << result;
  }
  static std::vector<Json> part(const ProbeReport& report, const std::string& name) {
    std::vector<Json> found;
    for (const Json& result : report.results) {
      if (result["part"] == name) found.push_back(result);
    }
    return found;
  }
};

TEST(NumberedProbes, AreFoundByIdAndByNumber) {
  const Probe* probe = find_numbered_probe("tensorcore/04");
  if (!probe) GTEST_SKIP() << "built without it";
  EXPECT_EQ(probe->name, "tensorcore/04_fragment_map");
  EXPECT_EQ(find_numbered_probe(probe->name), probe);
  EXPECT_EQ(find_numbered_probe("04"), nullptr);
  EXPECT_EQ(find_numbered_probe("tensorcore/4"), nullptr);
  EXPECT_EQ(find_numbered_probe(""), nullptr);
  for (const Stage& stage : stages()) EXPECT_NE(stage.id, probe->name);
  try {
    find_stage("tensorcore/04");
    ADD_FAILURE() << "a probe is no stage";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "tensorcore/04_fragment_map solves no GEMM: `probe tensorcore/04` runs it");
  }
}

TEST_F(TensorProbes, TimesNeedAGpu) {
  if (open_device().gpu) GTEST_SKIP() << "there is one";
  ProbeRequest request;
  request.time = true;
  for (const Probe& probe : all_probes()) EXPECT_THROW(run_probe(probe, request, ""), DeviceError) << probe.name;
}

// ---- 04

TEST_F(TensorProbes, MapsAreWhatIsWrittenDown) {
  const ProbeReport report = checked("tensorcore/04");
  if (report.results.empty()) GTEST_SKIP() << "built without it";
  const std::vector<Json> maps = part(report, "map");
  EXPECT_EQ(maps.size(), 51u);  // 40 of wmma; of mma.sync A and B of five instructions, and a C
  std::set<std::string> names;
  for (const Json& map : maps) {
    names.insert(map["kind"].get<std::string>());
    if (map["status"] == "skip") continue;  // sm_75
    EXPECT_EQ(map["status"], "pass") << map["kind"] << map["reason"];
    EXPECT_EQ(map["lanes"].size(), 32u);
    std::map<int, int> times;
    for (const std::string lane : map["lanes"]) {
      std::istringstream numbers(lane);
      for (int e; numbers >> e;) ++times[e];
    }
    const int elements = map["rows"].get<int>() * map["cols"].get<int>();
    EXPECT_EQ(times.size(), static_cast<std::size_t>(elements)) << map["kind"];
    EXPECT_EQ(times.rbegin()->first, elements - 1) << map["kind"];
    for (const auto& [e, n] : times) EXPECT_EQ(n * map["held"].get<int>(), map["elements"]) << map["kind"] << e;
  }
  EXPECT_EQ(names.size(), maps.size());
  EXPECT_EQ(part(report, "tiles").size(), 1u);
  std::map<std::string, std::pair<int, int>> registers;
  for (const Json& r : part(report, "registers")) registers[r["matrix"]] = {r["wmma"], r["mma"]};
  EXPECT_EQ(registers["A, 16 x 16, f16"], std::pair(8, 4));
  EXPECT_EQ(registers["B, 16 x 16, f16"], std::pair(8, 4));
  EXPECT_EQ(registers["B, 16 x 8, f16"], std::pair(8, 2));
  EXPECT_EQ(registers["C, 16 x 16, f32"], std::pair(8, 8));
  EXPECT_EQ(registers["A, 16 x 16, bf16"], std::pair(4, 4));
  // The lane of the manual's first example, m16n8k16: rows 0 and 8, columns 0, 1, 8 and 9.
  EXPECT_NE(report.text.find("\n   0: (0,0) (0,1) (8,0) (8,1) (0,8) (0,9) (8,8) (8,9)\n"), std::string::npos);
}

TEST_F(TensorProbes, AnotherMapIsRefused) {
  using fragments::Place;
  std::vector<Place> right;
  for (int i = 0; i < 64; ++i) right.push_back({i / 16, i % 16});
  std::vector<Place> swapped = right;
  std::swap(swapped[10], swapped[11]);
  EXPECT_EQ(fragments::difference(right, right, 2, "the table"), "");
  EXPECT_EQ(fragments::difference(swapped, right, 2, "the table"),
            "x[0] of lane 5 is (0,11) on this device, (0,10) in the table");
  EXPECT_EQ(fragments::difference({}, right, 2, "the table"), "0 places, 64 in the table");

  // Every kind that registers are compared of, so that the report has them.
  std::vector<fragments::Kind> kinds;
  for (const char* name : {"wmma matrix_a 16x16x16 f16 row_major", "wmma matrix_b 16x16x16 f16 row_major",
                           "wmma accumulator 16x16x16 f32", "wmma matrix_a 32x8x16 f16 row_major",
                           "wmma matrix_b 32x8x16 f16 row_major", "wmma matrix_a 16x16x16 bf16 row_major",
                           "wmma matrix_a 16x16x8 tf32 row_major", "mma.sync matrix_a 16x8x16 f16 row_major",
                           "mma.sync matrix_b 16x8x16 f16 col_major", "mma.sync accumulator 16x8x16 f32",
                           "mma.sync matrix_a 16x8x16 bf16 row_major", "mma.sync matrix_a 16x8x8 tf32 row_major"})
    kinds.push_back({name, 4, 16, 2, 2, 1, 75, right, right, [&] { return right; }});
  EXPECT_EQ(kinds[0].name(), "a_f16_16x16x16_row");
  EXPECT_EQ(kinds[2].name(), "c_f32_16x16x16");
  EXPECT_EQ(kinds[8].name(), "b_f16_16x8x16");
  const auto tiles = [] { return std::string(); };
  const auto statuses = [&](std::string (*check)()) {
    std::string all;
    for (const Json& r : fragments::report(kinds, check, "c_f32_16x16x16").results)
      if (r["part"] != "registers") all += r["status"].get<std::string>() + " ";
    return all;
  };
  const std::string all_right = statuses(tiles);
  EXPECT_EQ(all_right.find("fail"), std::string::npos);
  kinds[0].discover = [&] { return swapped; };
  EXPECT_EQ(statuses(tiles).substr(0, 10), "fail pass ");
  kinds[0].discover = [&] { return right; };
  kinds[0].table = swapped;
  EXPECT_EQ(statuses(tiles).substr(0, 10), "fail pass ");
  kinds[0].table = right;
  kinds[0].documented = swapped;
  EXPECT_EQ(statuses(tiles).substr(0, 10), "fail pass ");
  kinds[0].documented = right;
  EXPECT_EQ(statuses(tiles), all_right);
  if (!open_device().gpu) {
    EXPECT_NE(statuses([] { return std::string("another C"); }), all_right);
  }
}

// ---- 05

TEST_F(TensorProbes, ScansAreRightAndTouchNoSharedMemory) {
  const ProbeReport report = checked("tensorcore/05");
  if (report.results.empty()) GTEST_SKIP() << "built without it";
  EXPECT_EQ(report.results.size(), 10u);
  for (const Json& r : report.results) {
    const std::string form = r["form"];
    EXPECT_EQ(r["status"], form == "cub" && !open_device().gpu ? "skip" : "pass") << r;
    if (!r.contains("counts")) continue;
    const Json& counts = r["counts"];
    const bool is_shared = form.starts_with("shared"), is_long = r["task"] == "rows of 256";
    EXPECT_EQ(counts["shared_bytes"], is_shared ? (is_long ? 1024 : 512) : 0) << r;
    EXPECT_EQ(counts["shared_requests"] != 0, is_shared) << r;
    EXPECT_EQ(counts["tensor_flops"], r["flops"]) << r;
    // Each sum is written once. Half a sector is read at a time, and of 256 numbers all once more as the other operand.
    const double tiles = r["batch"].get<double>() * (is_long ? 1 : 1 / 16.0);
    EXPECT_EQ(r["bytes"], tiles * 1536) << r;
    EXPECT_EQ(counts["global_store_sectors"], tiles * 32) << r;
    EXPECT_EQ(counts["global_load_sectors"], tiles * 32 * (is_long ? 2 : 1)) << r;
  }
}

TEST_F(TensorProbes, FlawedScansAreRejected) {
  using scan_test::Flaw;
  const std::map<std::string, Flaw> flaws = {{"exclusive", Flaw::exclusive},
                                             {"half carry", Flaw::half_carry},
                                             {"none", Flaw::none},
                                             {"one row", Flaw::one_row},
                                             {"next row", Flaw::next_row}};
  for (const int width : {16, 256}) {
    scan::Rows rows(width);
    std::vector<batches::Form> forms;
    for (const auto& [name, flaw] : flaws) {
      const auto launch = [&rows, flaw, width](std::int64_t count) {
        return scan_test::scan(flaw, rows.in(), rows.out(), count, width);
      };
      forms.push_back({name, launch, "", nullptr});
    }
    forms.push_back({"empty", [](std::int64_t) { return Status::ok(); }, "", nullptr});
    forms.push_back({"failing", [](std::int64_t) { return Status::failed("no launch"); }, "", nullptr});
    forms.push_back({"absent", {}, "not here", nullptr});
    ProbeReport report;
    batches::measure({}, {scan::task(rows, forms, "none")}, {100, 64}, report);
    EXPECT_EQ(report.results.size(), 2 * forms.size());
    for (const Json& r : report.results) {
      const std::string form = r["form"], reason = r["reason"];
      // A row of 16 carries nothing; whole numbers are carried exactly.
      const bool right = form == "none" || (form == "half carry" && width == 16);
      EXPECT_EQ(r["status"], right ? "pass" : form == "absent" ? "skip" : "fail") << r;
      if (form == "half carry" && width == 256) {
        EXPECT_EQ(reason.find("whole"), std::string::npos) << reason;
      }
      if (form == "exclusive") {
        EXPECT_NE(reason.find("the first in row 0, column 0"), std::string::npos) << reason;
      }
      if (form == "one row" && r["batch"] == 64) {
        EXPECT_EQ(reason, std::to_string(width) + " of " + std::to_string(64 * width) +
                              " sums are wrong, the first in row 63, column 0 (whole numbers)");
      }
      if (form == "empty") {
        EXPECT_FALSE(reason.empty());
      }
      if (form == "failing") {
        EXPECT_EQ(reason, "no launch");
      }
    }
  }
}

// ---- 06a, 06b

// Every form; without a GPU, those in registers have no shared memory, and the others what H or G takes.
void expect_transforms(const ProbeReport& report, const std::map<std::string, int>& shared_bytes) {
  for (const Json& r : report.results) {
    const std::string form = r["form"], task = r["task"];
    EXPECT_EQ(r["status"], "pass") << r;
    if (!r.contains("counts")) continue;
    const Json& counts = r["counts"];
    const bool is_shared = form.starts_with("shared");
    const int m = task == "m = 32" ? 32 : 16;
    EXPECT_EQ(counts["shared_bytes"], is_shared ? shared_bytes.at(task) : 0) << r;
    EXPECT_EQ(counts["shared_requests"] != 0, is_shared) << r;
    if (is_shared) {
      EXPECT_EQ(counts["shared_wavefronts"].get<int>() * 128, r["batch"].get<int>() * 2 * m * m * 2)
          << "conflicts" << r;
    }
    EXPECT_EQ(counts["tensor_flops"], form == "direct" ? 0 : r["flops"].get<double>()) << r;
    const int times = form == "direct" ? 1 : 2;  // a fragment is stored half a sector at a time
    EXPECT_EQ(counts["global_store_sectors"], r["batch"].get<int>() * m * m * 2 / 32 * times) << r;
  }
}

TEST_F(TensorProbes, ReflectionsAreRight) {
  const ProbeReport report = checked("tensorcore/06a");
  if (report.results.empty()) GTEST_SKIP() << "built without it";
  EXPECT_EQ(report.results.size(), 7u);
  expect_transforms(report, {{"m = 16", 4 * 16 * 24 * 2}, {"m = 32", 4 * 32 * 40 * 2}});
  for (const Json& r : report.results) {
    const int m = r["task"] == "m = 32" ? 32 : 16, batch = r["batch"];
    EXPECT_EQ(r["bytes"], batch * (2 * m * m + m) * 2) << r;
  }
}

TEST_F(TensorProbes, RotationsOfAnyTwoRowsAreRight) {
  const Probe* probe = find_numbered_probe("tensorcore/06b");
  if (!probe) GTEST_SKIP() << "built without it";
  const auto option = [&](const std::string& name) {
    return std::ranges::find(probe->options, name, &ProbeOption::name)->number;
  };
  int &i = *option("--i"), &j = *option("--j");
  const int built_in_i = i, built_in_j = j;
  expect_transforms(probe->run({}), {{"16 x 16", 4 * 16 * 24 * 2}});
  for (const auto& [one, other] : {std::pair(12, 3), std::pair(0, 1), std::pair(9, 8), std::pair(15, 0)}) {
    i = one, j = other;
    const ProbeReport report = probe->run({});
    EXPECT_EQ(report.results.size(), 5u);
    for (const Json& r : report.results) {
      const bool is_embedded = r["form"].get<std::string>().ends_with("embedded");
      EXPECT_EQ(r["status"], is_embedded ? "skip" : "pass") << r;
      EXPECT_EQ(r["bytes"], 37 * 1028) << r;
    }
  }
  i = j = 5;
  EXPECT_THROW(probe->run({}), UsageError);
  i = built_in_i, j = built_in_j;
}

using transform_test::Flaw;
const std::map<std::string, Flaw> transform_flaws = {{"none", Flaw::none},
                                                     {"first matrix", Flaw::first_matrix},
                                                     {"last matrix", Flaw::last_matrix},
                                                     {"few matrices", Flaw::few_matrices},
                                                     {"one column", Flaw::one_column}};

template <class Launch>
std::vector<batches::Form> flawed_forms(std::map<std::string, Flaw> flaws, const Launch& launch) {
  flaws.insert(transform_flaws.begin(), transform_flaws.end());
  std::vector<batches::Form> forms;
  for (const auto& [name, flaw] : flaws) {
    forms.push_back({name, [=](std::int64_t count) { return launch(flaw, count); }, "", nullptr});
  }
  forms.push_back({"empty", [](std::int64_t) { return Status::ok(); }, "", nullptr});
  return forms;
}

void expect_flaws_to_fail(const ProbeReport& report, int m) {
  for (const Json& r : report.results) {
    const bool right = r["form"] == "none" || r["form"] == "corrected";
    EXPECT_EQ(r["status"], right ? "pass" : "fail") << r;
    if (r["form"] == "last matrix") {
      EXPECT_EQ(r["reason"], std::to_string(m * m) + " of " + std::to_string(40 * m * m) +
                                 " elements are wrong, the first in matrix 39, row 0, column 0 (whole numbers)");
    }
  }
}

TEST_F(TensorProbes, FlawedReflectionsAreRejected) {
  for (const int m : {16, 32}) {
    auto matrices = transforms::Matrices::householder(m);
    std::vector<batches::Form> forms =
        flawed_forms({{"not doubled", Flaw::not_doubled}, {"inner product", Flaw::inner_product}},
                     [&](Flaw flaw, std::int64_t count) { return transform_test::reflect(flaw, matrices, count); });
    using transform_test::Listing;
    const auto code_5 = [&](Listing listing) {
      return [&, listing](std::int64_t count) { return transform_test::code_5(listing, matrices, count); };
    };
    if (m == 32) {
      forms.push_back({"corrected", code_5(Listing::corrected), "", nullptr});
      forms.push_back({"as printed", code_5(Listing::as_printed), "", nullptr});
      forms.push_back({"bi for bj", code_5(Listing::bi_for_bj), "", nullptr});
    }
    ProbeReport report;
    batches::measure({}, {transforms::task(matrices, "reflections", forms, "none")}, {40}, report);
    EXPECT_EQ(report.results.size(), m == 32 ? 11u : 8u);
    expect_flaws_to_fail(report, m);
  }
}

// The page says what the paper's Code 5 computes: H A, and A with its halves exchanged.
TEST_F(TensorProbes, Code5AddsTheOtherHalf) {
  constexpr int M = 32, COUNT = 3;
  auto matrices = transforms::Matrices::householder(M);
  matrices.fill(COUNT, true);
  const auto result = [&](transform_test::Listing listing) {
    matrices.clear(COUNT);
    EXPECT_TRUE(transform_test::code_5(listing, matrices, COUNT));
    std::vector<__half> b(COUNT * M * M);
    check_cuda(cudaMemcpy(b.data(), matrices.b(), b.size() * sizeof b[0], cudaMemcpyDeviceToHost), "copy");
    return b;
  };
  const std::vector<__half> right = result(transform_test::Listing::corrected),
                            wrong = result(transform_test::Listing::as_printed);
  EXPECT_FALSE(matrices.check(COUNT).empty());
  std::vector<__half> a(right.size());
  check_cuda(cudaMemcpy(a.data(), matrices.a(), a.size() * sizeof a[0], cudaMemcpyDeviceToHost), "copy");
  for (int e = 0; e < COUNT * M * M; ++e) {
    const int other = e / (M * M) * M * M + (e + M * M / 2) % (M * M);
    EXPECT_EQ(__half2float(wrong[e]), __half2float(right[e]) + __half2float(a[other])) << e;
  }
}

TEST_F(TensorProbes, FlawedRotationsAreRejected) {
  for (const auto& [i, j] : {std::pair(3, 12), std::pair(15, 0)}) {
    auto matrices = transforms::Matrices::givens(i, j);
    const std::vector<batches::Form> forms =
        flawed_forms({{"other way", Flaw::other_way}, {"others zero", Flaw::others_zero}},
                     [&, i = i, j = j](Flaw flaw, std::int64_t count) {
                       return transform_test::rotate(flaw, matrices, count, i, j);
                     });
    ProbeReport report;
    batches::measure({}, {transforms::task(matrices, "rotations", forms, "none")}, {40}, report);
    EXPECT_EQ(report.results.size(), 8u);
    expect_flaws_to_fail(report, 16);
  }
}

// What the data are said to be: vectors and pairs (c, s) are of length 1, and not all alike.
TEST_F(TensorProbes, TransformationsAreOrthogonal) {
  for (const bool whole : {true, false}) {
    for (const int m : {16, 32, 0}) {
      constexpr int COUNT = 50;
      auto filled = m == 0 ? transforms::Matrices::givens(0, 1) : transforms::Matrices::householder(m);
      filled.fill(COUNT, whole);
      const int each = filled.parameters_each();
      std::vector<__half> all(COUNT * each);
      check_cuda(cudaMemcpy(all.data(), filled.parameters(), all.size() * sizeof all[0], cudaMemcpyDeviceToHost),
                 "copy");
      std::set<std::vector<float>> different;
      for (int n = 0; n < COUNT; ++n) {
        std::vector<float> one;
        double square = 0;
        for (int e = 0; e < each; ++e) {
          one.push_back(__half2float(all[n * each + e]));
          square += one.back() * one.back();
        }
        different.insert(one);
        EXPECT_NEAR(square, 1, whole ? 0 : 1e-3) << n;
      }
      if (whole) {
        EXPECT_GE(different.size(), 4u);
      } else {
        EXPECT_EQ(different.size(), COUNT);
      }
    }
  }
}

// What is predicted: a copy's time, but never less than a launch.
TEST_F(TensorProbes, TheFloorIsThatOfACopy) {
  scan::Rows rows(16);
  ProbeReport report;
  ProbeRun run;
  run.machine.copy_gbs = 4000;
  run.machine.launch_us = 0.002;
  batches::measure(run, {scan::task(rows, {{"absent", {}, "not here", nullptr}}, "")}, {1, 1000}, report);
  EXPECT_EQ(report.results[0]["predicted_ms"], 2e-6);
  EXPECT_DOUBLE_EQ(report.results[1]["predicted_ms"], 1000 * 96 / 4e9);
}

// ---- with nvcc and nvdisasm, if this machine has them

TEST(ScanCode, RegistersNeedNoSharedOrLocalMemory) {
  const Probe* probe = find_numbered_probe("tensorcore/05");
  if (!probe) GTEST_SKIP() << "built without it";
  const auto tools = find_toolchain();
  if (!tools || tools->nvdisasm.empty()) GTEST_SKIP() << "SKIPPED, NOT RUN: no nvcc or no nvdisasm on this machine";
  ProbeReport report;
  batches::add_code(probe->file, "scan_", report);
  EXPECT_EQ(report.results.size(), 6u);
  for (const Json& r : report.results) {
    const std::string kernel = r["kernel"];
    int shared = 0;
    for (const auto& [name, count] : r["accesses"].items()) {
      if (name.starts_with("LDS") || name.starts_with("STS")) shared += count.get<int>();
    }
    EXPECT_EQ(shared != 0, kernel.starts_with("scan_shared")) << r;
    EXPECT_EQ(r["shared"] != 0, kernel.starts_with("scan_shared")) << r;
    EXPECT_EQ(r["local"], 0) << r;
    EXPECT_EQ(r["spilled"], 0) << r;
    // Four loads and four stores for a tile: the second operand of rows of 256 is not loaded again.
    if (!kernel.starts_with("scan_cub")) {
      EXPECT_EQ(r["accesses"]["LDG.32"], 4) << r;
      EXPECT_EQ(r["accesses"]["STG.64"], 4) << r;
    }
  }
}

// Memory instructions that begin so.
int accesses_of(const Json& result, std::initializer_list<const char*> beginnings) {
  int sum = 0;
  for (const auto& [name, count] : result["accesses"].items()) {
    for (const char* beginning : beginnings) sum += name.starts_with(beginning) ? count.get<int>() : 0;
  }
  return sum;
}

TEST(TransformCode, RegistersNeedNoSharedOrLocalMemory) {
  const auto tools = find_toolchain();
  if (!tools || tools->nvdisasm.empty()) GTEST_SKIP() << "SKIPPED, NOT RUN: no nvcc or no nvdisasm on this machine";
  std::map<std::string, int> instructions;
  for (const auto& [number, prefix, kernels] :
       {std::tuple("tensorcore/06a", "householder_", 7u), std::tuple("tensorcore/06b", "givens_", 5u)}) {
    const Probe* probe = find_numbered_probe(number);
    if (!probe) GTEST_SKIP() << "built without it";
    ProbeReport report;
    batches::add_code(probe->file, prefix, report);
    EXPECT_EQ(report.results.size(), kernels);
    for (const Json& r : report.results) {
      const std::string kernel = r["kernel"];
      const bool is_shared = kernel.find("_shared") != std::string::npos;
      EXPECT_EQ(accesses_of(r, {"LDS", "STS"}) != 0, is_shared) << r;
      EXPECT_EQ(r["shared"] != 0, is_shared) << r;
      // A register has no address: what map() says at run time is an index into local memory, where all of x[] lies.
      EXPECT_EQ(r["local"], kernel == "givens_map" ? 16 * 2 : 0) << r;
      EXPECT_EQ(accesses_of(r, {"LD.", "ST."}), 0) << r;
      EXPECT_EQ(r["spilled"], 0) << r;
      instructions[kernel] = r["instructions"];
    }
  }
  // What the pages say of rows that are known when nvcc compiles, and of fragments that share a map.
  EXPECT_LT(instructions.at("givens_registers<Embedded>"), instructions.at("givens_shared<Embedded>"));
  EXPECT_GT(instructions.at("givens_registers<Arguments>"), instructions.at("givens_shared<Arguments>"));
  EXPECT_LT(instructions.at("givens_map"), instructions.at("givens_registers<Arguments>"));
  EXPECT_LT(instructions.at("householder_registers<32, 1>"), instructions.at("householder_shared<32>"));
}

}  // namespace
}  // namespace gemm

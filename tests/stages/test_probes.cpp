// The probes (common/report/probe_report.hpp, tsm/probes/): what their kernels compute, what they predict, and that
// nvcc leaves in their loops just what they are about.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "common/backend/device.hpp"
#include "common/commands/probe.hpp"
#include "common/problem/registry.hpp"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"
#include "tests/device_test.hpp"
#include "tsm/probes/fp64_loops.hpp"

namespace gemm {
namespace {

const Probe& find_probe(const std::string& name) {
  for (const Probe& probe : all_probes()) {
    if (probe.name == name) return probe;
  }
  throw std::logic_error("no probe " + name);
}

class Probes : public DeviceTest {
 protected:
  // Only checked, nothing timed.
  static ProbeReport checked(const std::string& name) {
    ProbeRun run;
    if (open_device().gpu) run.sm_count = open_device().sm_count;
    return find_probe(name).run(run);
  }
  static void expect_all(const ProbeReport& report, const std::string& status) {
    EXPECT_FALSE(report.results.empty());
    for (const Json& result : report.results) EXPECT_EQ(result["status"], status) << result;
  }
};

TEST_F(Probes, SumsOfBandwidthAreRight) {
  const ProbeReport report = checked("bandwidth");
  expect_all(report, "pass");
  for (const Json& r : report.results) {
    // Little's law, with an H200's numbers.
    const double bytes = r["warps_per_sm"] == 0 ? 128.0 * r["ilp"].get<int>() * r["word_bytes"].get<int>()
                                                : 132.0 * 32 * r["warps_per_sm"].get<int>() * r["ilp"].get<int>() *
                                                      r["word_bytes"].get<int>();
    const bool writes = r["work"] == "scale";
    EXPECT_NEAR(r["predicted_gbs"], std::min((writes ? 2 : 1) * bytes / 336.5, writes ? 4225.0 : 4557.0), 1e-6) << r;
  }
}

// However many SMs there are, each has its data; with so few a skip would be wrong.
TEST_F(Probes, BandwidthHasDataForEverySm) {
  for (const int sm_count : {1, 7}) {
    ProbeRun run;
    run.sm_count = sm_count;
    const ProbeReport report = find_probe("bandwidth").run(run);
    expect_all(report, "pass");
    for (const Json& r : report.results) {
      const int warps = r["warps_per_sm"];
      EXPECT_EQ(r["blocks"].get<int>() * r["block_threads"].get<int>(), warps == 0 ? 128 : 32 * warps * sm_count) << r;
      EXPECT_EQ(r["bytes"], (r["work"] == "scale" ? 4LL : 2LL) * r["blocks"].get<int>() *
                                r["block_threads"].get<int>() * r["ilp"].get<int>() * r["word_bytes"].get<int>())
          << r;
    }
  }
}

TEST_F(Probes, ChainsAndLoadsOfLatencyAreRight) {
  const ProbeReport report = checked("latency");
  expect_all(report, "pass");
  std::map<std::string, std::vector<double>> cycles;
  std::vector<std::string> dependent;
  for (const Json& r : report.results) {
    if (r["part"] == "dependent") dependent.push_back(r["what"]);
    if (r["part"] == "lines")
      cycles[r["memory"].get<std::string>() + " " + r["pattern"].get<std::string>()].push_back(r["predicted_cycles"]);
  }
  EXPECT_EQ(dependent, (std::vector<std::string>{"shared", "dfma"}));
  // 1 to 32 lines. Side by side, 32 words of 8 bytes take two cycles, and from 16 lines on the tags take longer; in one
  // pair of banks each line is a cycle.
  EXPECT_EQ(cycles["shared spread"], (std::vector<double>{1, 2, 2, 2, 2, 2}));
  EXPECT_EQ(cycles["l1 spread"], (std::vector<double>{1, 2, 2, 2, 4, 8}));
  EXPECT_EQ(cycles["shared column"], (std::vector<double>{1, 4, 8, 16, 32, 32}));
  EXPECT_EQ(cycles["l1 column"], cycles["shared column"]);
}

// Of each kind of work the same bytes and the same prediction, however long blocks live.
TEST_F(Probes, BlocksOfAnyLifeAreRight) {
  const ProbeReport report = checked("lives");
  expect_all(report, "pass");
  std::map<std::string, std::vector<int>> blocks;
  for (const Json& r : report.results) {
    const bool scale = r["work"] == "scale";
    blocks[r["work"].get<std::string>() + " " + r["order"].get<std::string>()].push_back(r["blocks"]);
    EXPECT_EQ(r["bytes"], (scale ? 2 : 1) * 64 * 4096) << r;
    EXPECT_EQ(r["predicted_gbs"], scale ? 4225 : 4557) << r;
  }
  EXPECT_EQ(blocks.size(), 12u);
  for (const std::string work : {"read", "scale"}) {
    EXPECT_EQ(blocks[work + " strided"], (std::vector<int>{64, 32, 16, 8, 4, 2, 1, 12}));
    EXPECT_EQ(blocks[work + " pieces of 16"], (std::vector<int>{4, 12}));
    for (const char* const order : {" ranges", " tickets", " tickets of 4", " tickets of 16"})
      EXPECT_EQ(blocks[work + order], std::vector<int>{12});
  }
}

TEST_F(Probes, LoopsOfFp64AreRight) {
  expect_all(checked("coissue"), "pass");
  expect_all(checked("tiles"), "pass");
}

TEST_F(Probes, AWrongSumIsNoticed) {
  probes::Loop loop;
  loop.about = {{"kind", "wrong"}};
  loop.fmas = 1;
  loop.launch = [](const LaunchShape&, int, const double*, double* out, long long*) {
    return cudaMemset(out, 0, 32 * sizeof(double)) == cudaSuccess ? Status::ok() : Status::failed("cudaMemset");
  };
  loop.right = [](int thread, int) { return thread == 31 ? 1.0 : 0.0; };
  ProbeReport report = probes::run_loops({}, {loop}, "");
  expect_all(report, "fail");
  loop.right = [](int, int) { return 0.0; };
  report = probes::run_loops({}, {loop}, "");
  expect_all(report, "pass");
}

TEST(ProbeLoops, CyclesOfTheRegistersPorts) {
  const auto cycles = [](const std::vector<std::string>& code) { return probes::read_loop(code).port_cycles; };
  const std::string fresh = "DFMA R0, R4, R6, R0", also = "DFMA R2, R8, R10, R2";
  EXPECT_EQ(cycles({}), 0);
  EXPECT_EQ(cycles({"MOV R1, R2"}), 0);
  EXPECT_EQ(cycles({fresh, also}), 6);
  // Kept: in its own place only, and for the next DFMA only, which may be the next round's.
  EXPECT_EQ(cycles({"DFMA R0, R4.reuse, R6, R0", "DFMA R2, R4, R10, R2"}), 3 + 2);
  EXPECT_EQ(cycles({"DFMA R0, R4.reuse, R6, R0", "DFMA R2, R10, R4, R2"}), 3 + 3);
  EXPECT_EQ(cycles({"DFMA R0, R4, R6, R0", "DFMA R2, R4, R10.reuse, R2", "DFMA R12, -R14, R10, R12"}), 3 + 3 + 2);
  EXPECT_EQ(cycles({"DFMA R2, R4, R10, R2", "DFMA R0, R4.reuse, R6, R0"}), 2 + 3);
  EXPECT_EQ(cycles({"DFMA R0, R4.reuse, R6.reuse, R0", "DFMA R2, R4, R6, R2"}), 3 + 2) << "its lanes take two";
  EXPECT_EQ(cycles({"DFMA R0, R4, R4, R0"}), 2) << "one operand twice";
  // Others: beside an FMA that leaves a cycle, and behind one that doesn't; before the first is behind the last.
  EXPECT_EQ(cycles({fresh, "LDS.64 R20, [R21]", also}), 7);
  EXPECT_EQ(cycles({fresh, "IADD3 R20, R21, R22, R23", also}), 7.5);
  EXPECT_EQ(cycles({"IMAD.IADD R20, R20, 0x1, R21", fresh, also, "LDS.128 R20, [R21+0x10]", "BRA `(.L_x_1)"}), 8);
  EXPECT_EQ(cycles({"DFMA R0, R4.reuse, R6.reuse, R0", "DFMA R2, R4, R6, R2", "MOV R1, R3"}), 3 + 2);
}

TEST_F(Probes, IncorrectKernelsAreNeverTakenForResults) {
  const ProbeReport report = checked("incorrect");
  expect_all(report, "incorrect on purpose");
  for (const Stage& stage : stages()) EXPECT_EQ(stage.file.find("probes"), std::string::npos) << stage.id;
}

TEST_F(Probes, TimesNeedAGpu) {
  if (open_device().gpu) GTEST_SKIP() << "there is one";
  ProbeRequest request;
  request.time = true;
  for (const Probe& probe : all_probes()) EXPECT_THROW(run_probe(probe, request, ""), DeviceError) << probe.name;
}

// ---- with nvcc and nvdisasm, if this machine has them

class ProbeCode : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    const auto tools = find_toolchain();
    if (!tools || tools->nvdisasm.empty()) GTEST_SKIP() << "SKIPPED, NOT RUN: no nvcc or no nvdisasm on this machine";
  }

  // That a loop has its FMAs, so many others, and hardly anything besides; and the operands that its order promises.
  static void expect_mix(const std::string& name) {
    const Probe& probe = find_probe(name);
    const auto option = std::ranges::find(probe.options, "--sass", &ProbeOption::name);
    ASSERT_NE(option, probe.options.end());
    *option->flag = true;
    const ProbeReport report = probe.run({});
    *option->flag = false;
    for (const Json& r : report.results) {
      ASSERT_TRUE(r.contains("sass")) << r;
      const Json& code = r["sass"];
      const std::string kind = r["kind"];
      const int others = r["others"];
      EXPECT_EQ(code["dfma"], r["fmas"]) << r;
      EXPECT_EQ(code["loads_64"], kind == "lds64" || kind == "ldg64" ? others : 0) << r;
      EXPECT_EQ(code["loads_128"], kind == "lds128" ? others : 0) << r;
      if (kind == "move") {
        // nvcc makes some of the moves by the additions that keep them from being left out.
        const int made = code["adds"].get<int>() + code["moves"].get<int>();
        EXPECT_NEAR(made, others, 0.06 * others) << r;
        EXPECT_GT(code["moves"].get<int>(), 0.6 * others) << r;
      } else {
        EXPECT_EQ(code["adds"], kind == "add" ? others : 0) << r;
        EXPECT_LE(code["moves"], 4) << r;
      }
      EXPECT_LE(code["rest"], 5) << r;  // counter, comparison, branch; of ldg64 an address
      EXPECT_LE(code["spilled"], 8) << r;
      if (kind == "none" || kind == "add") {
        const double operands = code["new_operands"];
        EXPECT_NEAR(operands, r["operands"], 0.15) << r;
      }
      // Three new operands are three cycles; two are two, but for about every sixth DFMA, for which nothing is kept.
      const double cycles = code["port_cycles"].get<double>() / r["fmas"].get<int>();
      if (kind == "none" && r["order"] == "fresh")
        EXPECT_NEAR(cycles, 3, 0.02) << r;
      else if (kind == "none")
        EXPECT_NEAR(cycles, 2 + 1 / 6.0, 0.1) << r;
      else
        EXPECT_GT(cycles, 2.1) << r;
    }
  }
};

TEST_F(ProbeCode, CoissueHasWhatItSays) {
  expect_mix("coissue");
}

TEST_F(ProbeCode, TilesHaveWhatTheySay) {
  expect_mix("tiles");
}

// So many loads from global and shared memory, by class, wherever they stand in a kernel.
std::map<std::string, InstructionCounts> accesses(const std::string& probe) {
  std::map<std::string, InstructionCounts> all;
  for (const CompiledKernel& kernel : compile_probe(find_probe(probe).file)) {
    for (const auto& [line, counts] : kernel.lines) {
      for (const auto& [name, n] : counts) all[kernel.name + "<" + kernel.template_arguments][name] += n;
    }
  }
  return all;
}

TEST_F(ProbeCode, BandwidthHasAsManyLoadsUnderWayAsItSays) {
  auto found = accesses("bandwidth");
  for (const int ilp : {1, 2, 4, 8, 16}) {
    const auto of = [&](const std::string& word, bool writes) {
      return found["read_words<" + word + ", " + std::to_string(ilp) + (writes ? ", true" : ", false")];
    };
    EXPECT_EQ(of("double", false)["LDG.64"], ilp);
    EXPECT_EQ(of("double2", false)["LDG.128"], ilp);
    EXPECT_EQ(of("double", true)["LDG.64"], ilp);
    EXPECT_EQ(of("double", true)["STG.64"], ilp + 1);  // and the sum
  }
}

// However many turns a block takes, a thread has one load in flight.
TEST_F(ProbeCode, LivesHasOneLoadAndOneStore) {
  int kernels = 0, stores = 0;
  for (const auto& [kernel, counts] : accesses("lives")) {
    if (!kernel.starts_with("handle_tiles<")) continue;
    ++kernels;
    EXPECT_EQ(counts.at("LDG.128"), 1) << kernel;
    if (counts.contains("STG.128")) stores += counts.at("STG.128");
  }
  EXPECT_EQ(kernels, 4);  // strided or by tickets; they read, or read and write
  EXPECT_EQ(stores, 2);
}

TEST_F(ProbeCode, LatencyLoadsEachTime) {
  auto found = accesses("latency");
  EXPECT_EQ(found["load_lines<false"]["LDG.64"], 8);
  EXPECT_EQ(found["load_lines<true"]["LDS.64"], 8);
  EXPECT_GT(found["chase<"]["LDG.32"], 4);         // the warm-up, and four in a row
  EXPECT_EQ(found["chase_shared<"]["LDS.32"], 5);  // four in a row, and those that are left
}

// A chain is one only if each needs the result of the one before, and nothing stands between them.
TEST_F(ProbeCode, LatencyAddsToOneSum) {
  const auto kernels = compile_probe(find_probe("latency").file);
  const auto kernel = std::ranges::find(kernels, "add_up", &CompiledKernel::name);
  ASSERT_NE(kernel, kernels.end());
  ASSERT_TRUE(kernel->loop) << kernel->no_loop_why;
  std::map<std::string, int> sums;
  for (const std::string& line : kernel->loop->code) {
    if (line.starts_with("DFMA")) ++sums[line.substr(0, line.find(',')) + " =" + line.substr(line.rfind(',') + 1)];
  }
  ASSERT_EQ(sums.size(), 1u) << "more than one sum";
  const auto& [text, count] = *sums.begin();
  EXPECT_EQ(count, 64);
  EXPECT_EQ(text.substr(text.find(' ') + 1, text.find(" =") - 5), text.substr(text.rfind(' ') + 1)) << text;
  EXPECT_LE(kernel->loop->instructions, 64 + 3);
}

}  // namespace
}  // namespace gemm

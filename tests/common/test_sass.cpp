// What nvcc made of a kernel: the tools' output as committed in tests/fixtures/, as made up here, and as the tools
// write it where they are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/toolchain/sass.hpp"

namespace gemm {
namespace {

namespace fs = std::filesystem;

const fs::path tests = fs::path(__FILE__).parent_path().parent_path();
const fs::path root = tests.parent_path();

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

MachineCode only_function(const std::string& sass, const std::string& source) {
  const auto functions = parse_sass(sass, source);
  EXPECT_EQ(functions.size(), 1u);
  return functions.empty() ? MachineCode{} : functions.begin()->second;
}

MachineCode fixture(const std::string& stage) {
  return only_function(contents(tests / "fixtures" / (stage + ".sass")), "/stages/" + stage + ".cu");
}

// nvdisasm's form around instructions and labels: "label:" or "OPCODE operands".
std::string function_of(const std::string& body) {
  std::string text = "\t.section\t.text.f,\"ax\",@progbits\n\t.align\t128\n.text.f:\n        .type f,@function\nf:\n";
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) {
    const bool is_plain = line.empty() || line.back() == ':' || line.starts_with("\t//##");
    text += is_plain ? line + "\n" : "        /*0000*/                   " + line + " ;\n";
  }
  return text;
}

// A folder that is gone after the test, and an environment that is restored.
class Sass : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "test_sass_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    for (const char* variable : {"CUDACXX", "TMPDIR"}) {
      const char* value = std::getenv(variable);
      saved.emplace_back(variable, value ? std::optional<std::string>(value) : std::nullopt);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : saved) value ? setenv(name, value->c_str(), 1) : unsetenv(name);
    fs::remove_all(folder);
  }
  fs::path write(const std::string& name, const std::string& text, bool is_program = false) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
    if (is_program) fs::permissions(folder / name, fs::perms::owner_all);
    return folder / name;
  }
  // A program that takes nvcc's place and, asked to compile, does what the script says.
  fs::path write_nvcc(const std::string& script) {
    return write(
        "tool kit/nvcc",
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Cuda compilation tools, release 13.0, V13.0.88' && exit\n" + script,
        true);
  }

  fs::path folder;
  std::vector<std::pair<const char*, std::optional<std::string>>> saved;
};

using Counts = InstructionCounts;

TEST_F(Sass, Stage03HasBothTilesLoadsMerged) {
  const MachineCode code = fixture("03_shared_tile");
  ASSERT_TRUE(code.loop);
  EXPECT_EQ(code.loop->counts, (Counts{{"FFMA", 32}, {"LDS.128", 16}, {"LDG.32", 2}, {"STS.32", 2}, {"BAR", 2}}));
  EXPECT_EQ(code.loop->instructions, 81);
  EXPECT_EQ(code.loop->line, 37);
  EXPECT_DOUBLE_EQ(code.loop->shared_loads_per_fma(), 0.5);
  EXPECT_DOUBLE_EQ(code.loop->global_loads_per_fma(), 0.0625);
  EXPECT_EQ(code.lines, (LineInstructions{{34, {{"LDG.32", 1}, {"STS.32", 1}}},
                                          {35, {{"LDG.32", 1}, {"STS.32", 1}}},
                                          {37, {{"LDS.128", 16}}},
                                          {43, {{"LDG.32", 1}, {"STG.32", 1}}}}));
  EXPECT_EQ(code.loop->lines.count(37), 1u);
  EXPECT_EQ(code.loop->lines.count(43), 0u);
}

TEST_F(Sass, Stage04HasOnlyAsLoadsMerged) {
  const MachineCode code = fixture("04_conflict_free");
  ASSERT_TRUE(code.loop);
  EXPECT_DOUBLE_EQ(code.loop->shared_loads_per_fma(), 1.25);
  EXPECT_EQ(code.loop->lines.at(36), (Counts{{"LDS.128", 8}, {"LDS.32", 32}}));
}

TEST_F(Sass, ClassesOfInstructions) {
  for (const auto& [opcode, expected] :
       std::vector<std::pair<std::string, std::string>>{{"LDG.E", "LDG.32"},
                                                        {"LDG.E.128.CONSTANT", "LDG.128"},
                                                        {"LDG.E.LTC128B", "LDG.32"},  // a hint for L2, not a width
                                                        {"LDG.E.LTC128B.64.CONSTANT", "LDG.64"},
                                                        {"LDG.E.U16.CONSTANT", "LDG.16"},
                                                        {"LDS.U.128", "LDS.128"},
                                                        {"STS.U8", "STS.8"},
                                                        {"LDGSTS.E.BYPASS.LTC128B.128", "LDGSTS.128"},
                                                        {"LDSM.16.M88", "LDSM.x1"},
                                                        {"LDSM.16.MT88.4", "LDSM.x4"},
                                                        {"HMMA.16816.F32", "HMMA.16816.F32"},
                                                        {"HGMMA.64x128x8.F32.TF32", "HGMMA.64x128x8.F32.TF32"},
                                                        {"FFMA.FTZ", "FFMA"},
                                                        {"BAR.SYNC.DEFER_BLOCKING", "BAR"},
                                                        {"LDL.LU.64", "LDL.64"},
                                                        {"IMAD.MOV.U32", ""},
                                                        {"LDC.64", ""},
                                                        {"LDGDEPBAR", ""}}) {
    EXPECT_EQ(instruction_class(opcode, ""), expected) << opcode;
  }
  EXPECT_EQ(instruction_class("HFMA2.MMA", "R2, -RZ, RZ, 0, 0"), "");  // a constant
  EXPECT_EQ(instruction_class("HFMA2", "R2, R4, R5, R2"), "HFMA2");
}

TEST_F(Sass, TakesTheInnermostLoopWithTheMostWork) {
  const std::string sass = function_of(R"(FFMA R0, R0, R0, R0
.L_outer:
FFMA R0, R0, R0, R0
FFMA R0, R0, R0, R0
FFMA R0, R0, R0, R0
.L_small:
FFMA R0, R0, R0, R0
@P0 BRA `(.L_small)
.L_big:
LDS R1, [R0]
FFMA R0, R0, R0, R0
@P1 BRA `(.L_big)
FFMA R0, R0, R0, R0
@P0 BRA `(.L_big)
BRA.U UP0, `(.L_outer)
EXIT
.L_trap:
BRA `(.L_trap))");
  const MachineCode code = only_function(sass, "a.cu");
  ASSERT_TRUE(code.loop);
  EXPECT_EQ(code.loop->counts, (Counts{{"FFMA", 2}, {"LDS.32", 1}}));  // both ways back to .L_big are one loop
  EXPECT_EQ(code.loop->instructions, 5);
}

// As in tsm/13c, whose loop over rows has one for its last rows.
TEST_F(Sass, ALoopWithLittleWorkInsideIsNotTheHotOne) {
  const std::string sass = function_of(
      ".L_rows:\nDMMA.884 R0, R4, R6, R0\n.L_last:\nDFMA R0, R0, R0, R0\n"
      "@P0 BRA `(.L_last)\n@P1 BRA `(.L_rows)\nEXIT\n");
  const MachineCode code = only_function(sass, "a.cu");
  ASSERT_TRUE(code.loop);
  EXPECT_EQ(code.loop->instructions, 4);
}

TEST_F(Sass, UnlikelyCodeBehindTheRestIsNoLoopOfItsOwn) {
  const MachineCode code = only_function(function_of(R"(.L_loop:
FFMA R0, R0, R0, R0
BRA.DIV ~URZ, `(.L_unlikely)
.L_back:
LDS R1, [R0]
@P0 BRA `(.L_loop)
@P2 BRA `(.L_unlikely_too)
.L_back_too:
FFMA R0, R0, R0, R0
FFMA R0, R0, R0, R0
EXIT
.L_unlikely:
STS [R0], R1
BRA `(.L_back)
.L_unlikely_too:
BRA `(.L_back_too))"),
                                         "a.cu");
  ASSERT_TRUE(code.loop);
  EXPECT_EQ(code.loop->counts, (Counts{{"FFMA", 1}, {"LDS.32", 1}, {"STS.32", 1}}));
}

TEST_F(Sass, NoLoopWithoutMultiplyAdds) {
  EXPECT_FALSE(only_function(function_of(".L_1:\nLDS R1, [R0]\n@P0 BRA `(.L_1)\nEXIT\n"), "a.cu").loop);
  EXPECT_FALSE(only_function(function_of("FFMA R0, R0, R0, R0\nEXIT\n"), "a.cu").loop);
  EXPECT_FALSE(only_function(function_of(""), "a.cu").loop);
  EXPECT_TRUE(parse_sass("", "a.cu").empty());
  EXPECT_TRUE(parse_sass("nvdisasm fatal   : no such file", "a.cu").empty());
}

TEST_F(Sass, CountsAKernelsInstructionsWithoutWhatFollowsIt) {
  const std::string kernel = "S2R R0, SR_TID.X\n@P0 EXIT\nNOP\nSTG.E desc[UR4][R2.64], R0\nEXIT\n";
  EXPECT_EQ(only_function(function_of(kernel), "a.cu").instructions, 5);
  const std::string behind = ".L_x_0:\nBRA `(.L_x_0)\nNOP\nNOP\n";
  EXPECT_EQ(only_function(function_of(kernel + behind), "a.cu").instructions, 5);
  EXPECT_EQ(only_function(function_of(kernel + "RET.REL.NODEC R20 `(f)\n" + behind), "a.cu").instructions, 6);
  EXPECT_EQ(only_function(function_of(behind), "a.cu").instructions, 0);
}

TEST_F(Sass, TensorCoreLoopsCountByTheirOwnInstructions) {
  const MachineCode code = only_function(
      function_of(".L_1:\n@!PT LDS RZ, [RZ]\nLDSM.16.M88.4 R4, [R0]\nLDGSTS.E.BYPASS.128 [R2], desc[UR6][R4.64]\n"
                  "HMMA.16816.F32 R4, R12.reuse, R16, R4\nHMMA.16816.F32 R4, R12.reuse, R16, R4\nFFMA R0, R0, R0, R0\n"
                  "@P0 BRA `(.L_1)\nEXIT\n"),
      "a.cu");
  ASSERT_TRUE(code.loop);
  EXPECT_EQ(code.loop->tensor_instructions(), 2);
  EXPECT_DOUBLE_EQ(code.loop->shared_loads_per_fma(), 0.5);
  EXPECT_EQ(code.loop->counts.count("LDS.32"), 0u) << "an instruction that is never executed was counted";
}

TEST_F(Sass, InlinedFunctionsCountForTheLineThatCallsThem) {
  const MachineCode code = only_function(
      function_of(
          "\t//## File \"/x/tile.cuh\", line 9 inlined at \"/x/copy.cuh\", line 3\n"
          "\t//## File \"/x/copy.cuh\", line 3 inlined at \"/x/a.cu\", line 7\n\t//## File \"/x/a.cu\", line 7\n"
          "STS.128 [R0], R4\n\t//## File \"/x/tile.cuh\", line 9\nLDS R0, [R1]\n"),
      "/x/a.cu");
  EXPECT_EQ(code.lines, (LineInstructions{{7, {{"STS.128", 1}}}}));
}

constexpr const char* ptxas_output = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN4gemm40_GLOBAL__N__5d9b2f2c_8_multi_cu_4c3489d23dynILi8EdL4Mode1EEEvPKT0_PS3_i' for 'sm_90a'
ptxas info    : Function properties for _ZN4gemm40_GLOBAL__N__5d9b2f2c_8_multi_cu_4c3489d23dynILi8EdL4Mode1EEEvPKT0_PS3_i
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 48 registers, used 2 barriers, 1024 bytes smem, 400 bytes cmem[0]
ptxas info    : Function properties for _Z6helperf
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function '_Z5plainPf' for 'sm_90a'
ptxas info    : Function properties for _Z5plainPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers
)";

TEST_F(Sass, ReadsPtxas) {
  const auto kernels = parse_ptxas(ptxas_output);
  ASSERT_EQ(kernels.size(), 2u);
  const CompiledKernel& dyn = kernels[0];
  EXPECT_EQ(dyn.name, "dyn");
  EXPECT_EQ(dyn.template_arguments, "8, double, (Mode)1");
  EXPECT_EQ(dyn.signature, "void gemm::(anonymous namespace)::dyn<8, double, (Mode)1>(double const*, double*, int)");
  EXPECT_EQ(dyn.architecture, "sm_90a");
  EXPECT_EQ(dyn.registers, 48);
  EXPECT_EQ(dyn.stack_bytes, 16);
  EXPECT_EQ(dyn.spill_store_bytes, 12);
  EXPECT_EQ(dyn.spill_load_bytes, 20);
  EXPECT_EQ(dyn.static_shared_bytes, 1024);
  EXPECT_EQ(dyn.barriers, 2);
  EXPECT_EQ(kernels[1].name, "plain");
  EXPECT_EQ(kernels[1].template_arguments, "");
  EXPECT_EQ(kernels[1].registers, 4);
  EXPECT_EQ(kernels[1].spill_store_bytes, 0);
  EXPECT_TRUE(parse_ptxas("").empty());
}

TEST_F(Sass, ShowsNarrowLines) {
  std::vector<CompiledKernel> kernels = parse_ptxas(ptxas_output);
  kernels[0].loop = fixture("04_conflict_free").loop;
  for (int i = 0; i < 30; ++i) kernels[0].loop->counts["HMMA.TYPE" + std::to_string(i)] = 1;
  kernels[0].loop->counts["HMMA." + std::string(80, 'x')] = 1;
  kernels[0].template_arguments = std::string(200, 'x');
  kernels[1].no_loop_why = "no loop multiplies";
  std::istringstream lines(show(kernels));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
  kernels[0].loop = fixture("04_conflict_free").loop;
  EXPECT_NE(show(kernels).find("(line 36): 32 FFMA, 8 LDS.128, 32 LDS.32, "), std::string::npos) << show(kernels);
  EXPECT_NE(show(kernels).find("= 1.25 shared load instructions per FMA"), std::string::npos) << show(kernels);
  EXPECT_NE(show(kernels).find("no loop multiplies"), std::string::npos) << show(kernels);
}

TEST_F(Sass, FindsWhatCudacxxNames) {
  const fs::path nvcc = write_nvcc("");
  setenv("CUDACXX", nvcc.c_str(), 1);
  ASSERT_TRUE(find_toolchain());
  EXPECT_EQ(find_toolchain()->nvcc, nvcc);
  EXPECT_EQ(find_toolchain()->version, "13.0.88");
  const fs::path nvdisasm = write("tool kit/nvdisasm", "", true);
  EXPECT_EQ(find_toolchain()->nvdisasm, nvdisasm);
  for (const char* other : {"/bin/true", "/nonexistent/nvcc", "no-such-program"}) {
    setenv("CUDACXX", other, 1);
    EXPECT_FALSE(find_toolchain()) << other;
  }
}

TEST_F(Sass, CompilesAndDisassemblesInAFolderThatIsGoneAfterwards) {
  const std::string sass = contents(tests / "fixtures/03_shared_tile.sass");
  const std::string symbol =
      sass.substr(sass.find("\n_ZN") + 1, sass.find(":\n", sass.find("\n_ZN")) - sass.find("\n_ZN") - 1);
  const fs::path source = write("a stage's ü/03_shared_tile.cu", "");
  Toolchain tools;
  tools.nvcc =
      write_nvcc("echo \"ptxas info    : Compiling entry function '" + symbol + "' for 'sm_90a'\" >&2\n").string();
  fs::create_directory(folder / "tmp");
  setenv("TMPDIR", (folder / "tmp").c_str(), 1);

  auto kernels = compile_kernels(tools, source, folder);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "sgemm");
  EXPECT_FALSE(kernels[0].loop);
  EXPECT_NE(kernels[0].no_loop_why.find("no nvdisasm"), std::string::npos);

  write("03.sass", sass);
  tools.nvdisasm = write(
      "nvdisasm", "#!/bin/sh\nsed \"s|/stages/|${3%/*}/source/|\" '" + (folder / "03.sass").string() + "'\n", true);
  kernels = compile_kernels(tools, source, folder);
  ASSERT_TRUE(kernels.at(0).loop);
  EXPECT_EQ(kernels[0].loop->line, 37);

  tools.nvdisasm = write("nvdisasm", "#!/bin/sh\necho 'nvdisasm fatal   : too old'; exit 1\n", true);
  EXPECT_NE(compile_kernels(tools, source, folder).at(0).no_loop_why.find("too old"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder / "tmp"));
}

TEST_F(Sass, SaysWhyNvccFailed) {
  const auto message = [&](const fs::path& source) -> std::string {
    try {
      compile_kernels({.nvcc = (folder / "tool kit/nvcc").string(), .version = "", .nvdisasm = ""}, source, folder);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  write_nvcc(
      "for last; do :; done; echo 'x.cu(1): warning #20: no'; echo \"$last(3): error: bad\"; echo 'x: error: 2'; exit "
      "2\n");
  EXPECT_EQ(message(folder / "a.cu"), (folder / "a.cu").string() + "(3): error: bad");
  write_nvcc("exit 3\n");
  EXPECT_EQ(message(folder / "a.cu"), "nvcc failed (3)");
  write_nvcc("kill -9 $$\n");
  EXPECT_EQ(message(folder / "a.cu"), "nvcc failed (137)");
  EXPECT_NE(message(folder / "$(touch x).cu").find("shell"), std::string::npos);
  fs::remove(folder / "tool kit/nvcc");
  EXPECT_NE(message(folder / "a.cu").find("could not run"), std::string::npos);
}

// ---- with the tools of this machine

TEST_F(Sass, CompilesStages) {
  const auto tools = find_toolchain();
  if (!tools) GTEST_SKIP() << "SKIPPED, NOT RUN: no nvcc on this machine";
  for (const auto& entry : fs::directory_iterator(root / "stages")) {
    if (entry.path().extension() != ".cu") continue;
    // Without nvdisasm there is no loop to find: some will do, since the CUDA build compiles them all.
    if (tools->nvdisasm.empty() && !entry.path().stem().string().starts_with("0")) continue;
    const auto kernels = compile_kernels(*tools, entry.path(), root);
    bool has_loop = false;
    for (const CompiledKernel& kernel : kernels) {
      EXPECT_GT(kernel.registers, 0) << kernel.signature;
      has_loop |= kernel.loop.has_value();
    }
    EXPECT_EQ(has_loop, !tools->nvdisasm.empty()) << show(kernels);
  }
}

TEST_F(Sass, PagesOf03And04AreRight) {
  const auto tools = find_toolchain();
  if (!tools) GTEST_SKIP() << "SKIPPED, NOT RUN: no nvcc on this machine";
  const auto third = compile_kernels(*tools, root / "stages/03_shared_tile.cu", root);
  const auto fourth = compile_kernels(*tools, root / "stages/04_conflict_free.cu", root);
  ASSERT_EQ(third.size(), 1u);
  ASSERT_EQ(fourth.size(), 1u);
  EXPECT_EQ(third[0].name, "sgemm");
  EXPECT_EQ(third[0].static_shared_bytes, 8192);
  EXPECT_EQ(fourth[0].static_shared_bytes, 8192);
  if (tools->nvdisasm.empty()) GTEST_SKIP() << "SKIPPED, NOT RUN: no nvdisasm on this machine";
  EXPECT_DOUBLE_EQ(third[0].loop->shared_loads_per_fma(), 0.5);
  EXPECT_DOUBLE_EQ(fourth[0].loop->shared_loads_per_fma(), 1.25);
}

TEST_F(Sass, KeepsKernelsOfOneFileApart) {
  const auto tools = find_toolchain();
  if (!tools) GTEST_SKIP() << "SKIPPED, NOT RUN: no nvcc on this machine";
  const fs::path source = write("a stage's ü/two.cu", R"(
extern __shared__ unsigned char smem[];
namespace gemm { namespace {
template <int STEPS, class T>
__global__ void __launch_bounds__(256, 2) dynamic(const T* a, T* c) {
  T* tile = reinterpret_cast<T*>(smem);
  T sum = 0;
  for (int k = 0; k < 1024; ++k) {
    tile[threadIdx.x] = a[256 * k + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < STEPS; ++i) sum += tile[i] * tile[i + threadIdx.x];
    __syncthreads();
  }
  c[threadIdx.x] = sum;
}
__global__ void empty() {}
}
const void* used[] = {(void*)dynamic<8, float>, (void*)dynamic<16, double>, (void*)empty};
})");
  const auto kernels = compile_kernels(*tools, source, root);
  ASSERT_EQ(kernels.size(), 3u);
  std::map<std::string, const CompiledKernel*> by_name;
  for (const CompiledKernel& kernel : kernels) by_name[kernel.name + "<" + kernel.template_arguments] = &kernel;
  ASSERT_TRUE(by_name.contains("dynamic<8, float") && by_name.contains("dynamic<16, double") &&
              by_name.contains("empty<"));
  EXPECT_EQ(by_name["dynamic<8, float"]->static_shared_bytes, 0);
  if (tools->nvdisasm.empty()) GTEST_SKIP() << "SKIPPED, NOT RUN: no nvdisasm on this machine";
  EXPECT_EQ(by_name["dynamic<8, float"]->loop->counts.at("FFMA") % 8, 0);
  EXPECT_EQ(by_name["dynamic<16, double"]->loop->counts.at("DFMA") % 16, 0);
  EXPECT_EQ(by_name["dynamic<16, double"]->loop->line, 11);
  EXPECT_TRUE(by_name["dynamic<16, double"]->lines.contains(9));
  EXPECT_FALSE(by_name["empty<"]->loop);
}

}  // namespace
}  // namespace gemm

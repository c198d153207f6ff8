// Kernels compiled at run time (common/toolchain/jit.hpp): what is kept, what is noticed, what is said when something
// is wrong.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <future>
#include <map>
#include <optional>

#include "common/backend/counts.hpp"
#include "common/backend/device_memory.hpp"
#include "common/toolchain/jit.hpp"
#include "common/toolchain/jit_cache.hpp"
#include "common/toolchain/jit_compiler.hpp"
#include "common/toolchain/process.hpp"
#include "tests/device_test.hpp"

namespace gemm {
namespace {

namespace fs = std::filesystem;

// y = times * x + y, and a second header that it includes.
const JitHeader scale_header = {"tests/scale.cuh", R"(#include <cuda_runtime.h>
#include <cstdint>
#include "tests/add.cuh"
namespace test {
template <class T, int times>
__global__ void scale(std::int64_t n, const T* x, T* y) {
  const std::int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = add(times * x[i], y[i]);
}
}
)"};
const JitHeader add_header = {"tests/add.cuh", "template <class T> __device__ T add(T a, T b) { return a + b; }\n"};

JitRequest scale_by(int times, const std::string& remark = "") {
  JitHeader header = scale_header;
  header.text += remark;
  return {fmt::format("test::scale<double, {}>", times), {header, add_header}};
}
using Scale = void(std::int64_t, const double*, double*);

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Each test has a cache of its own, empty at first; a test that another one starts is told which.
class Jit : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    const char* const given = std::getenv("TEST_JIT_CACHE");
    set_kernel_cache(given ? fs::path(given) : folder_.path());
    forget_kernels();
    before_ = jit_counters();
  }
  void TearDown() override {
    set_kernel_cache("");
    forget_kernels();
  }

  // Where there is no NVRTC, a GPU build can't compile.
  static bool can_compile() {
    if (native_jit_target() == "cpu" || nvrtc()) return true;
    std::cerr << "*** SKIPPED, NOT RUN: no NVRTC ***\n";
    return false;
  }

  static JitCounters since(const JitCounters& before) {
    const JitCounters& now = jit_counters();
    return {now.in_memory - before.in_memory, now.on_disk - before.on_disk, now.compiled - before.compiled,
            now.rejected - before.rejected};
  }
  void expect_counts(int in_memory, int on_disk, int compiled, int rejected) {
    const JitCounters found = since(before_);
    EXPECT_EQ(found.in_memory, in_memory);
    EXPECT_EQ(found.on_disk, on_disk);
    EXPECT_EQ(found.compiled, compiled);
    EXPECT_EQ(found.rejected, rejected);
  }

  void expect_scales(const JitResult& found, int times) {
    ASSERT_TRUE(found.status) << found.status.reason;
    constexpr int n = 1000;
    std::vector<double> x(n), y(n, 1.0);
    for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = i;
    const DeviceArray<double> a(n), b(n);
    check_cuda(cudaMemcpy(a.data(), x.data(), n * 8, cudaMemcpyHostToDevice), "write");
    check_cuda(cudaMemcpy(b.data(), y.data(), n * 8, cudaMemcpyHostToDevice), "write");
    const Status launched = JitCall<Scale>::launch(*found.kernel, {.grid = 4, .block = 256}, n, a.data(), b.data());
    ASSERT_TRUE(launched) << launched.reason;
    check_cuda(cudaDeviceSynchronize(), "run");
    check_cuda(cudaMemcpy(y.data(), b.data(), n * 8, cudaMemcpyDeviceToHost), "read");
    for (int i = 0; i < n; ++i) ASSERT_EQ(y[static_cast<std::size_t>(i)], times * i + 1.0);
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(kernel_cache())) all.push_back(entry.path());
    return all;
  }

 private:
  TemporaryDirectory folder_;
  JitCounters before_;
};

TEST_F(Jit, CompiledOnceThenFoundInMemoryThenOnDisk) {
  if (!can_compile()) GTEST_SKIP();
  const JitResult first = find_kernel(scale_by(3));
  expect_scales(first, 3);
  expect_counts(0, 0, 1, 0);
  const JitResult second = find_kernel(scale_by(3));
  EXPECT_EQ(second.kernel, first.kernel);
  expect_counts(1, 0, 1, 0);
  // As in the next process.
  forget_kernels();
  expect_scales(find_kernel(scale_by(3)), 3);
  expect_counts(1, 1, 1, 0);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(Jit, WhatDiffersIsCompiledAnew) {
  if (!can_compile()) GTEST_SKIP();
  expect_scales(find_kernel(scale_by(2)), 2);
  expect_scales(find_kernel(scale_by(5)), 5);
  expect_scales(find_kernel(scale_by(5, "// another text\n")), 5);
  JitRequest other = scale_by(5);
  other.headers[1].text = "template <class T> __device__ T add(T a, T b) { return b + a; }\n";
  expect_scales(find_kernel(other), 5);
  expect_counts(0, 0, 4, 0);
  EXPECT_EQ(files().size(), 4u);
}

TEST_F(Jit, DamagedFilesAreNoticedAndReplaced) {
  if (!can_compile()) GTEST_SKIP();
  expect_scales(find_kernel(scale_by(7)), 7);
  const fs::path file = files().at(0);
  const std::string right = contents(file);
  std::string flipped = right;
  flipped[right.size() / 3] ^= 1;
  std::string other_length = right;
  other_length.replace(right.size() - 60, 1, "f");
  int rejected = 0;
  for (const std::string& wrong : {flipped, other_length, right.substr(0, right.size() - 1), right.substr(0, 100),
                                   right + "x", std::string(), std::string("not a kernel at all\n")}) {
    ASSERT_NE(wrong, right);
    fs::remove(file);  // and not written in place: the kernel is still mapped from it
    std::ofstream(file, std::ios::binary) << wrong;
    forget_kernels();
    expect_scales(find_kernel(scale_by(7)), 7);
    ++rejected;
    expect_counts(0, 0, 1 + rejected, rejected);
    EXPECT_FALSE(read_binary(file).damaged);
  }
  forget_kernels();
  expect_scales(find_kernel(scale_by(7)), 7);
  expect_counts(0, 1, 1 + rejected, rejected);
}

TEST_F(Jit, ErrorsOfTheCompilerAreToldInOneLine) {
  if (!can_compile()) GTEST_SKIP();
  JitRequest wrong = scale_by(3);
  wrong.headers[0].text.replace(wrong.headers[0].text.find("y[i])"), 5, "z[i])");
  const JitResult found = find_kernel(wrong);
  EXPECT_EQ(found.status.code, Status::Code::failed);
  EXPECT_EQ(found.kernel, nullptr);
  EXPECT_TRUE(found.status.reason.starts_with("can't compile test::scale<double, 3>: tests/scale.cuh"))
      << found.status.reason;
  EXPECT_NE(found.status.reason.find("error"), std::string::npos) << found.status.reason;
  EXPECT_NE(found.status.reason.find('z'), std::string::npos) << found.status.reason;
  EXPECT_EQ(found.status.reason.find('\n'), std::string::npos) << found.status.reason;
  EXPECT_EQ(find_kernel({"test::nothing<1>", {scale_header, add_header}}).status.code, Status::Code::failed);
  EXPECT_EQ(find_kernel({"test::scale<double, 1>", {scale_header}}).status.code, Status::Code::failed);
  EXPECT_TRUE(!fs::exists(kernel_cache()) || files().empty());
}

// Two blocks with 100 KB each fit a multiprocessor with 228 KB; without being told, the runtime counts none above 48.
TEST_F(Jit, BlocksOfAMultiprocessor) {
  if (!can_compile()) GTEST_SKIP();
  const auto [status, kernel] = find_kernel(scale_by(9));
  ASSERT_TRUE(status) << status.reason;
#if GEMM_ON_GPU
  EXPECT_EQ(blocks_per_multiprocessor(*kernel, 1024, 1 << 30), 1);  // never none: it is the launch that fails
  int shared = 0;
  check_cuda(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0), "ask");
  for (const int bytes : {20 * 1024, 100 * 1024, shared / 2 - 2048})
    EXPECT_EQ(blocks_per_multiprocessor(*kernel, 32, bytes), std::min(shared / (bytes + 1024), 32)) << bytes;
#else
  EXPECT_GE(blocks_per_multiprocessor(*kernel, 32, 100 * 1024), 1);
#endif
}

TEST_F(Jit, ArgumentsOfOtherSizesAreRefused) {
  if (!can_compile()) GTEST_SKIP();
  const JitResult found = find_kernel(scale_by(3));
  ASSERT_TRUE(found.status) << found.status.reason;
  using Wrong = void(int, const double*, double*);
  const Status launched = JitCall<Wrong>::launch(*found.kernel, {.grid = 1, .block = 32}, 1, nullptr, nullptr);
  EXPECT_EQ(launched.code, Status::Code::failed);
}

TEST_F(Jit, WorksWithoutAPlaceToKeepThings) {
  if (!can_compile()) GTEST_SKIP();
  const TemporaryDirectory folder;
  const fs::path occupied = folder.path() / "a file";
  std::ofstream(occupied) << "and no folder";
  set_kernel_cache(occupied / "cache");
  expect_scales(find_kernel(scale_by(4)), 4);
  forget_kernels();
  expect_scales(find_kernel(scale_by(4)), 4);
  expect_counts(0, 0, 2, 0);
}

Finished run_this_test(const std::string& name, const std::vector<std::string>& variables) {
  return run_process({"/proc/self/exe", "--gtest_filter=" + name}, variables);
}

TEST_F(Jit, TwoProcessesAtOnce) {
  if (!can_compile()) GTEST_SKIP();
  const TemporaryDirectory folder;
  const std::string cache = "TEST_JIT_CACHE=" + folder.path().string();
  const auto child = [&] { return run_this_test("Jit.ChildScalesBy*", {cache}); };
  auto one = std::async(std::launch::async, child), two = std::async(std::launch::async, child);
  for (const Finished& finished : {one.get(), two.get()}) {
    EXPECT_EQ(finished.status, 0) << finished.output;
    EXPECT_NE(finished.output.find("[  PASSED  ] 2 tests"), std::string::npos) << finished.output;
  }
  set_kernel_cache(folder.path());
  EXPECT_EQ(files().size(), 2u);  // and nothing half-written
  for (const fs::path& file : files()) EXPECT_TRUE(read_binary(file).binary) << file;
}
TEST_F(Jit, ChildScalesBy11) {
  if (!can_compile()) GTEST_SKIP();
  expect_scales(find_kernel(scale_by(11)), 11);
}
TEST_F(Jit, ChildScalesBy13) {
  if (!can_compile()) GTEST_SKIP();
  expect_scales(find_kernel(scale_by(13)), 13);
}

TEST_F(Jit, WhereKernelsAreKept) {
  set_kernel_cache("relative/folder");
  EXPECT_EQ(kernel_cache(), fs::current_path() / "relative/folder");
  set_kernel_cache("");
  std::map<std::string, std::optional<std::string>> before;
  for (const char* name : {"HOME", "XDG_CACHE_HOME", "GEMM_KERNEL_CACHE"}) {
    const char* const value = std::getenv(name);
    before[name] = value ? std::optional<std::string>(value) : std::nullopt;
    unsetenv(name);
  }
  setenv("HOME", "/home/of/somebody", 1);
  EXPECT_EQ(kernel_cache(), "/home/of/somebody/.cache/staged-gemm");
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(kernel_cache(), "/caches/staged-gemm");
  setenv("GEMM_KERNEL_CACHE", "/of/ours", 1);
  EXPECT_EQ(kernel_cache(), "/of/ours");
  for (const auto& [name, value] : before) value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
}

// ---- for a GPU that is not there

class JitAhead : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!nvrtc()) {
      std::cerr << "*** SKIPPED, NOT RUN: no NVRTC ***\n";
      GTEST_SKIP();
    }
    set_kernel_cache(folder_.path());
  }
  void TearDown() override { set_kernel_cache(""); }

 private:
  TemporaryDirectory folder_;
};

TEST_F(JitAhead, CubinsForNamedArchitectures) {
  for (const std::string target : {"sm_90a", "sm_80"}) {
    const JitEntry entry = compile_kernel(scale_by(6), target);
    ASSERT_TRUE(entry.status) << entry.status.reason;
    EXPECT_TRUE(entry.compiled);
    EXPECT_GT(entry.seconds, 0);
    EXPECT_GE(entry.binary.registers, 4);
    EXPECT_EQ(entry.binary.spill_bytes, 0);
    Elf64_Ehdr header;
    ASSERT_GT(entry.binary.code.size(), sizeof header);
    std::memcpy(&header, entry.binary.code.data(), sizeof header);
    EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
    constexpr int em_cuda = 190;
    EXPECT_EQ(header.e_machine, em_cuda);
    EXPECT_NE(entry.binary.code.find(entry.binary.symbol), std::string::npos);
    EXPECT_TRUE(contents(entry.file).starts_with(entry.binary.code));

    const JitEntry again = compile_kernel(scale_by(6), target);
    EXPECT_FALSE(again.compiled);
    EXPECT_EQ(again.file, entry.file);
    EXPECT_EQ(again.binary.code, entry.binary.code);
    EXPECT_EQ(again.binary.registers, entry.binary.registers);
  }
  EXPECT_NE(compile_kernel(scale_by(6), "sm_90a").binary.code, compile_kernel(scale_by(6), "sm_80").binary.code);
}

// Structures, small types, none at all; and a kernel in the same cubin whose name is the beginning of another's.
const JitHeader parameters_header = {"tests/parameters.cuh", R"(#include <cuda_runtime.h>
struct Two { double a; char b; };
__global__ void none() {}
extern "C" __global__ void six(Two two, char c, const double* x, double* y, short s, long long n) {
  y[n] = x[c] + two.a + two.b + s;
}
extern "C" __global__ void sixty(double* y) { *y = 60; }
)"};

TEST_F(JitAhead, ParametersAreCountedInTheCubin) {
  for (const std::string target : {"sm_75", "sm_80", "sm_90a", "sm_120"}) {
    const auto count = [&](const std::string& kernel) {
      const JitEntry entry = compile_kernel({kernel, {parameters_header}}, target);
      EXPECT_TRUE(entry.status) << entry.status.reason;
      return parameter_count(entry.binary);
    };
    EXPECT_EQ(count("none"), 0) << target;
    EXPECT_EQ(count("six"), 6) << target;
    EXPECT_EQ(count("sixty"), 1) << target;
    EXPECT_EQ(parameter_count(compile_kernel(scale_by(6), target).binary), 3) << target;
  }
  JitBinary binary = compile_kernel(scale_by(6), "sm_90a").binary;
  const std::string whole = binary.code;
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  const std::size_t sections_end = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
  for (std::size_t bytes = 0; bytes < sections_end; bytes += 7) {
    binary.code = whole.substr(0, bytes);
    EXPECT_EQ(parameter_count(binary), std::nullopt) << bytes;
  }
  binary.code = std::string(1000, 'x');
  EXPECT_EQ(parameter_count(binary), std::nullopt);
  binary.code = whole;
  binary.symbol.pop_back();
  EXPECT_EQ(parameter_count(binary), std::nullopt);
}

// Another order is other code, under another name; but not where registers would be spilled: this kernel of tsm/13 has
// all that a thread can have.
TEST_F(JitAhead, InOrderUnlessThatSpills) {
  JitRequest many = {
      "gemm::generated::tsmm_pipeline<double2, 50, 50, 3, 8, 3, gemm::generated::Rows::flat, "
      "gemm::generated::Rows::flat, "
      "256, 14, 3, 1>",
      kernel_headers("tsm/13_tsmm_pipeline.cu")};
  JitRequest few = many;
  few.kernel.replace(few.kernel.find("3, 8, 3,"), 4, "2, 8");
  for (JitRequest* const request : {&few, &many}) {
    const JitEntry usual = compile_kernel(*request, "sm_90a");
    request->in_order = true;
    const JitEntry ordered = compile_kernel(*request, "sm_90a");
    ASSERT_TRUE(usual.status) << usual.status.reason;
    ASSERT_TRUE(ordered.status) << ordered.status.reason;
    EXPECT_TRUE(ordered.compiled);
    EXPECT_NE(ordered.file, usual.file);
    EXPECT_EQ(ordered.binary.spill_bytes, 0);
    // Both are what the compiler said, not what NVRTC's own cache leaves out.
    EXPECT_GT(ordered.binary.registers, 0);
    EXPECT_GT(usual.binary.registers, 0);
    EXPECT_EQ(ordered.binary.registers == usual.binary.registers, request == &many);
  }
}

TEST_F(JitAhead, ErrorsOfNvrtc) {
  JitRequest wrong = scale_by(3);
  wrong.headers[0].text += "int x = nowhere;\n";
  const JitEntry entry = compile_kernel(wrong, "sm_90a");
  EXPECT_EQ(entry.status.code, Status::Code::failed);
  EXPECT_NE(entry.status.reason.find("tests/scale.cuh(11): error"), std::string::npos) << entry.status.reason;
  EXPECT_EQ(entry.status.reason.find('\n'), std::string::npos);
  const JitEntry no_such = compile_kernel(scale_by(3), "sm_12");
  EXPECT_EQ(no_such.status.code, Status::Code::failed);
  EXPECT_NE(no_such.status.reason.find("architecture"), std::string::npos) << no_such.status.reason;
}

// A kernel in a stage's own file: neither the launch below it nor the headers of that are compiled at run time.
TEST(JitHeaders, OfAStageTheKernelAlone) {
  const std::vector<JitHeader> found = kernel_headers("tsm/09_generated.cu");
  const std::string& text = found.front().text;
  EXPECT_NE(text.find("__global__"), text.npos);
  EXPECT_EQ(text.find("Registration"), text.npos);
  EXPECT_TRUE(text.ends_with('\n'));
  EXPECT_NE(std::ranges::find(found, "tsm/generated/walk.cuh", &JitHeader::name), found.end());
  EXPECT_EQ(std::ranges::find(found, "tsm/jit_launch.hpp", &JitHeader::name), found.end());
}

TEST(JitTarget, OnlyArchitecturesAndTheBuildsOwn) {
  for (const char* good : {"sm_75", "sm_90", "sm_90a", "sm_100f"}) EXPECT_NO_THROW(require_jit_target(good));
  if (!GEMM_ON_GPU) {
    EXPECT_NO_THROW(require_jit_target("cpu"));
    for (const char* bad : {"", "sm_", "90a", "compute_90", "sm_90a -G", "sm_9o"})
      EXPECT_THROW(require_jit_target(bad), UsageError) << bad;
  }
}

#if !GEMM_ON_GPU

// ---- the executor looks on as it does elsewhere

const JitHeader shared_header = {"tests/shared.cuh", R"(#include <cuda_runtime.h>
extern __shared__ __align__(16) unsigned char smem[];
template <int rounds>
__global__ void reverse(const double* x, double* y) {
  double* const tile = reinterpret_cast<double*>(smem);
  double sum = 0;
  for (int i = 0; i < rounds; ++i) sum += x[threadIdx.x] * x[threadIdx.x + 64 * i];
  tile[threadIdx.x] = sum;
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
)"};
using Reverse = void(const double*, double*);

class JitOnExecutor : public Jit {
 protected:
  Observation run(const JitHeader& header, Status& status) {
    Observation observation;
    const JitResult found = find_kernel({"reverse<4>", {header}});
    status = found.status;
    if (!status) return observation;
    const DeviceArray<double> x(256), y(64);
    const std::vector<double> ones(256, 1.0);
    check_cuda(cudaMemcpy(x.data(), ones.data(), 256 * 8, cudaMemcpyHostToDevice), "write");
    return observe([&] {
      status = JitCall<Reverse>::launch(*found.kernel, {.grid = 1, .block = 64, .dynamic_shared = 64 * 8}, x.data(),
                                        y.data());
    });
  }
};

TEST_F(JitOnExecutor, CountsAreThoseOfTheKernel) {
  Status status;
  const Observation observation = run(shared_header, status);
  ASSERT_TRUE(status) << status.reason;
  EXPECT_TRUE(observation.defects.empty()) << observation.defects.front();
  const Counts counts = counts_of(observation).value();
  EXPECT_EQ(counts.global_load.requests, 2 * 8);  // two warps
  EXPECT_EQ(counts.global_store.requests, 2);
  EXPECT_EQ(counts.shared_store.requests, 2);
  EXPECT_EQ(counts.shared_load.requests, 2);
  EXPECT_EQ(counts.barriers, 1u);
  EXPECT_EQ(counts.shared_bytes, 512u);
  if (counts.fma64) {
    EXPECT_EQ(*counts.fma64, 64u * 4);
  }
  bool found = false;
  for (const LineCounts& line : line_counts_of(observation)) {
    EXPECT_EQ(line.file, "tests/shared.cuh");
    found |= line.line == 10 && line.counts.shared_load.requests == 2;
  }
  EXPECT_TRUE(found);
}

TEST_F(JitOnExecutor, DefectsNameTheHeadersLines) {
  const auto without = [](const std::string& text) {
    JitHeader header = shared_header;
    header.text.replace(header.text.find(text), text.size(), "");
    return header;
  };
  Status status;
  const Observation race = run(without("__syncthreads();"), status);
  ASSERT_FALSE(race.defects.empty());
  EXPECT_NE(race.defects.front().find("data race in shared memory in reverse"), std::string::npos)
      << race.defects.front();
  EXPECT_NE(race.defects.front().find("tests/shared.cuh:10"), std::string::npos) << race.defects.front();

  JitHeader beyond = shared_header;
  beyond.text.replace(beyond.text.find("64 * i"), 6, "64 * (i + 1)");
  const Observation outside = run(beyond, status);
  ASSERT_FALSE(outside.defects.empty());
  EXPECT_NE(outside.defects.front().find("out of bounds in reverse"), std::string::npos) << outside.defects.front();
  EXPECT_NE(outside.defects.front().find("tests/shared.cuh:7"), std::string::npos) << outside.defects.front();
}

TEST_F(JitOnExecutor, StaticSharedMemoryIsRefused) {
  JitHeader header = shared_header;
  header.text.replace(header.text.find("double sum"), 6, "__shared__ double own[4]; own[threadIdx.x % 4] = 0; double");
  Status status;
  run(header, status);
  EXPECT_EQ(status.code, Status::Code::failed);
  EXPECT_NE(status.reason.find("__shared__ variables of its own"), std::string::npos) << status.reason;
}

// The headers with another text of one of them.
std::vector<JitHeader> with(const JitHeader& header, std::vector<JitHeader> headers) {
  std::ranges::find(headers, header.name, &JitHeader::name)->text = header.text;
  return headers;
}

// tests/executor/delete_barriers.py does this to stages; the generated kernels' text lies in a header.
TEST_F(JitOnExecutor, EachBarrierOfTheGeneratedKernelsIsNeeded) {
  const JitHeader sums = kernel_headers("tsm/generated/block_sum.cuh").front();
  const std::string barrier = "__syncthreads();";
  const auto run = [&](const JitHeader& header) {
    const JitRequest request = {
        "gemm::generated::tsmttsm<double, 2, 2, 1, 1, false, true, true, 1, gemm::Reduction::ordered, 64, 1>",
        with(header, kernel_headers("tsm/09_generated.cu"))};
    const JitResult found = find_kernel(request);
    EXPECT_TRUE(found.status) << found.status.reason;
    if (!found.kernel) return Observation{};
    const DeviceArray<double> a(128), b(128), partial(4);
    const std::vector<double> ones(128, 1.0);
    for (const auto* x : {&a, &b})
      check_cuda(cudaMemcpy(x->data(), ones.data(), 128 * 8, cudaMemcpyHostToDevice), "write");
    using Tsmttsm = void(std::int64_t, double, const double*, std::int64_t, const double*, std::int64_t, double*,
                         std::int64_t, double*);
    return observe([&] {
      const Status launched =
          JitCall<Tsmttsm>::launch(*found.kernel, {.grid = 1, .block = 64, .dynamic_shared = 8 * 4 * 8}, 64, 1.0,
                                   a.data(), 2, b.data(), 2, nullptr, 2, partial.data());
      EXPECT_TRUE(launched) << launched.reason;
    });
  };
  const Observation whole = run(sums);
  EXPECT_TRUE(whole.defects.empty()) << whole.defects.front();
  int deleted = 0;
  for (std::size_t at = 0; (at = sums.text.find(barrier, at)) != std::string::npos; ++at, ++deleted) {
    JitHeader without = sums;
    without.text.replace(at, barrier.size(), "");
    const Observation found = run(without);
    ASSERT_FALSE(found.defects.empty()) << "barrier number " << deleted;
    EXPECT_NE(found.defects.front().find("shared memory in gemm::generated::tsmttsm<double"), std::string::npos)
        << found.defects.front();
    EXPECT_NE(found.defects.front().find("tsm/generated/block_sum.cuh:"), std::string::npos) << found.defects.front();
  }
  EXPECT_EQ(deleted, 2);
}

// TSMM's, before which C is copied to shared memory.
TEST_F(JitOnExecutor, TheBarrierOfTsmmIsNeeded) {
  const JitHeader kernel = kernel_headers("tsm/12_tsmm_generated.cu").front();
  const std::string barrier = "__syncthreads();";
  const auto run = [&](const JitHeader& header) {
    const JitRequest request = {"gemm::generated::tsmm<double, 2, 2, 2, 1, gemm::generated::From::shared, true, 64, 1>",
                                with(header, kernel_headers("tsm/12_tsmm_generated.cu"))};
    const JitResult found = find_kernel(request);
    EXPECT_TRUE(found.status) << found.status.reason;
    if (!found.kernel) return Observation{};
    const DeviceArray<double> a(64), c(4), b(64);
    const std::vector<double> ones(64, 1.0);
    check_cuda(cudaMemcpy(a.data(), ones.data(), 64 * 8, cudaMemcpyHostToDevice), "write");
    check_cuda(cudaMemcpy(c.data(), ones.data(), 4 * 8, cudaMemcpyHostToDevice), "write");
    using Tsmm = void(std::int64_t, double, const double*, std::int64_t, const double*, std::int64_t, double, double*,
                      std::int64_t);
    return observe([&] {
      const Status launched = JitCall<Tsmm>::launch(*found.kernel, {.grid = 1, .block = 64, .dynamic_shared = 4 * 8},
                                                    32, 1.0, a.data(), 2, c.data(), 2, 0.0, b.data(), 2);
      EXPECT_TRUE(launched) << launched.reason;
    });
  };
  const Observation whole = run(kernel);
  EXPECT_TRUE(whole.defects.empty()) << whole.defects.front();
  JitHeader without = kernel;
  const std::size_t at = without.text.find(barrier);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(without.text.find(barrier, at + 1), std::string::npos) << "one barrier";
  without.text.replace(at, barrier.size(), "");
  const Observation found = run(without);
  ASSERT_FALSE(found.defects.empty());
  EXPECT_NE(found.defects.front().find("shared memory in gemm::generated::tsmm<double"), std::string::npos)
      << found.defects.front();
  EXPECT_NE(found.defects.front().find("tsm/12_tsmm_generated.cu:"), std::string::npos) << found.defects.front();
}

TEST_F(JitOnExecutor, WithoutCompilerWhatIsKeptStillRuns) {
  const TemporaryDirectory folder;
  const std::vector<std::string> nothing = {"TEST_JIT_CACHE=" + folder.path().string(),
                                            "GEMM_KERNEL_COMPILER=/no/such/compiler"};
  const Finished refused = run_this_test("Jit.ChildScalesBy11", nothing);
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(refused.output.find("there is no /no/such/compiler"), std::string::npos) << refused.output;
  EXPECT_EQ(run_this_test("Jit.ChildScalesBy11", {nothing[0]}).status, 0);
  const Finished kept = run_this_test("Jit.ChildScalesBy11", nothing);
  EXPECT_EQ(kept.status, 0) << kept.output;
}

#endif

}  // namespace
}  // namespace gemm

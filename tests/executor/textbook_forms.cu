// CUDA's own syntax on the CPU executor: dynamic shared memory of any name, launches with <<<...>>>, cudaMalloc of any
// pointer. What g++ gets in its place: common/cmake/textbook.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/kernel/launch_log.hpp"
#include "tests/executor/defects.hpp"

struct Pair {
  float first, second;
};

extern __shared__ float outside[];

namespace gemm {
namespace {

extern __shared__ __align__(16) unsigned char bytes[];

struct SharedNames : testing::Test {
  DeviceArray<float> out = zeros<float>(64);

  void expect(const Findings& findings, DefectKind kind, const std::string& words) {
    const auto& defects = findings.result().defects;
    EXPECT_TRUE(std::ranges::count(defects, kind, &simt::Defect::kind)) << findings.text();
    EXPECT_NE(findings.text().find(words), std::string::npos) << findings.text();
  }
};

__global__ void of_the_file(float* out, int beyond) {
  outside[threadIdx.x + beyond] = 1;
  out[threadIdx.x] = outside[threadIdx.x + beyond];
}
__global__ void of_the_namespace(float* out, int beyond) {
  auto* const words = reinterpret_cast<float4*>(bytes);
  words[threadIdx.x + beyond] = make_float4(1, 2, 3, 4);
  out[threadIdx.x] = words[threadIdx.x + beyond].y;
}
__global__ void of_the_kernel(float* out, int beyond) {
  extern __shared__ double doubles[];
  doubles[threadIdx.x + beyond] = 1;
  out[threadIdx.x] = static_cast<float>(doubles[threadIdx.x + beyond]);
}
__global__ void of_a_structure(float* out, int beyond) {
  extern __shared__ Pair pairs[];
  const auto fill = [&](int i) { pairs[i].second = 1; };
  fill(threadIdx.x + beyond);
  out[threadIdx.x] = pairs[threadIdx.x + beyond].second;
}
template <class T, int N>
__global__ void of_a_template(T* out, int beyond) {
  extern __shared__ T rows[][N];
  rows[threadIdx.x + beyond][N - 1] = 1;
  out[threadIdx.x] = rows[threadIdx.x + beyond][N - 1];
}

TEST_F(SharedNames, OfAnyTypeAndScope) {
  const auto try_one = [&](void (*kernel)(float*, int), unsigned size, const std::string& name) {
    SCOPED_TRACE(name);
    const LaunchShape shape = {.block = 32, .dynamic_shared = 32 * size};
    FINDINGS(kernel, shape, out.data(), 0).expect_silence();
    expect(FINDINGS(kernel, shape, out.data(), 1), DefectKind::out_of_bounds,
           " past the end of " + name + " (" + std::to_string(32 * size) + " bytes)");
    expect(FINDINGS(kernel, {.block = 32}, out.data(), 3), DefectKind::out_of_bounds,
           "the launch asks for 0 bytes of dynamic shared memory: the kernel writes byte ");
    expect(FINDINGS(kernel, {.block = 32}, out.data(), 3), DefectKind::out_of_bounds, " of " + name + ": thread");
  };
  try_one(of_the_file, sizeof(float), "outside");
  try_one(of_the_namespace, sizeof(float4), "bytes");
  try_one(of_the_kernel, sizeof(double), "doubles");
  try_one(of_a_structure, sizeof(Pair), "pairs");
  try_one(of_a_template<float, 3>, 3 * sizeof(float), "rows");
  const auto doubles = zeros<double>(64);
  FINDINGS((of_a_template<double, 2>), {.block = 32, .dynamic_shared = 512}, doubles.data(), 0).expect_silence();
}

__global__ void without_a_barrier(float* out) {
  extern __shared__ float racing[];
  racing[threadIdx.x] = 1;
  out[threadIdx.x] = racing[31 - threadIdx.x];
}
__global__ void without_a_write(float* out) {
  extern __shared__ float unwritten[];
  if (threadIdx.x) unwritten[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = unwritten[31 - threadIdx.x];
}
TEST_F(SharedNames, OfOtherDefects) {
  const LaunchShape shape = {.block = 32, .dynamic_shared = 128};
  expect(FINDINGS(without_a_barrier, shape, out.data()), DefectKind::shared_race, " of racing (128 bytes)");
  expect(FINDINGS(without_a_write, shape, out.data()), DefectKind::uninitialised_shared,
         "byte 0 of unwritten (128 bytes)");
}

__attribute__((noinline)) __device__ void fill_at(float* to, int i) {
  to[i] = 1;
}
__global__ void gives_it_away(float* out) {
  extern __shared__ float given[];
  fill_at(given, threadIdx.x + 1);
  out[threadIdx.x] = given[threadIdx.x + 1];
}
__global__ void under_two_names(float* out) {
  extern __shared__ float floats[];
  extern __shared__ int integers[];  // the same memory
  floats[threadIdx.x] = 1;
  out[threadIdx.x] = static_cast<float>(integers[threadIdx.x + 1]);
}
__device__ float4* quad(int i) {
  return reinterpret_cast<float4*>(bytes) + i;
}
__global__ void by_way_of_another(float4* out) {
  float4* const to = quad(threadIdx.x);
  *to = out[0];
}
TEST_F(SharedNames, WhereItIsUsed) {
  const LaunchShape shape = {.block = 32, .dynamic_shared = 128};
  expect(FINDINGS(gives_it_away, shape, out.data()), DefectKind::out_of_bounds,
         "0 bytes past the end of given (128 bytes)");
  const auto quads = zeros<float4>(1);
  const std::string unnamed = FINDINGS(by_way_of_another, {.block = 32}, quads.data()).text();
  EXPECT_NE(unnamed.find(" bytes of dynamic shared memory: the kernel writes byte "), std::string::npos) << unnamed;
  const std::string text = FINDINGS(under_two_names, shape, out.data()).text();
  EXPECT_NE(text.find("0 bytes past the end of integers (128 bytes)"), std::string::npos) << text;
}

__global__ void with_static_memory(float* out, int beyond) {
  __shared__ float fixed[32];
  extern __shared__ float variable[];
  fixed[threadIdx.x] = variable[threadIdx.x + beyond] = 1;
  out[threadIdx.x] = fixed[threadIdx.x] + variable[threadIdx.x + beyond];
}
TEST_F(SharedNames, BesideStaticMemory) {
  FINDINGS(with_static_memory, {.block = 32, .dynamic_shared = 128}, out.data(), 0).expect_silence();
  expect(FINDINGS(with_static_memory, {.block = 32}, out.data(), 1000), DefectKind::out_of_bounds,
         "the launch asks for 0 bytes of dynamic shared memory: the kernel writes byte 4000 of variable");
}

struct Launches : testing::Test {
  DeviceArray<int> out = zeros<int>(4096);

  // How many words hold this.
  long count(int value) {
    const auto host = out.to_host();
    return std::count(host.begin(), host.end(), value);
  }
};

__device__ int index() {
  return (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
}
__global__ void write(int* out, int value, float = 0) {
  out[index()] = value;
}
__global__ void write_plainly(int* out, int value) {
  out[index()] = value;
}
template <int N, class T>
__global__ void write_more(T* out, T value) {
  for (int i = 0; i < N; ++i) out[index() * N + i] = value;
}
template <class T>
void run_in_a_template(T* out, T value) {
  write_more<4, T><<<4, 8>>>(out, value);
}
#define RUN_MACRO(kernel, n, ...) kernel<<<n, 32>>>(__VA_ARGS__)

TEST_F(Launches, OfAnyForm) {
  int* const p = out.data();
  const dim3 grid(2, 3), block(4, 8);
  cudaStream_t stream = nullptr;
  write_plainly<<<2, 32>>>(p, 1);
  EXPECT_EQ(count(1), 64);
  write_plainly<<<grid, block, 0, stream>>>(p, 2);
  EXPECT_EQ(count(2), 192);
  write_more<4, int>  // over several lines
      <<<dim3(2, 2),  // and comments with <<<1, 2>>>(3)
         dim3(32)>>>(p, 3);
  EXPECT_EQ(count(3), 512);
  write_more<2><<<(64 >> 2), 32>>>(p, 4);
  EXPECT_EQ(count(4), 1024);
  write<<<1, 32>>>(p, 5);
  EXPECT_EQ(count(5), 32);
  ::gemm::write<<<1, 32>>>(p, 6, 1.0);
  EXPECT_EQ(count(6), 32);
  const auto kernel = &write_plainly;
  kernel<<<1, 64>>>(p, 7);
  EXPECT_EQ(count(7), 64);
  run_in_a_template(p, 8);
  EXPECT_EQ(count(8), 128);
  RUN_MACRO(write_plainly, 4, p, 9);
  EXPECT_EQ(count(9), 128);
  int value = 10;
  if (value == 10) write_plainly<<<1, 32>>>(p, value++);
  EXPECT_EQ(value, 11) << "arguments are evaluated once";
  EXPECT_EQ(count(10), 32);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Launches, NoteTheirErrors) {
  write_plainly<<<1, 2048>>>(out.data(), 1);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  write_plainly<<<0, 32>>>(out.data(), 1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(count(1), 0);
}

TEST_F(Launches, NeedMuchSharedMemoryAllowed) {
  constexpr int much = 60000;
  write_plainly<<<1, 32, much>>>(out.data(), 1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(write_plainly, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024),
            cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(cudaFuncSetAttribute(write_plainly, cudaFuncAttributeMaxDynamicSharedMemorySize, much), cudaSuccess);
  write_plainly<<<1, 32, much>>>(out.data(), 1);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(count(1), 32);
}

TEST(Copies, TakeRowsApart) {
  DeviceArray<int> out = zeros<int>(12);
  const int from[] = {1, 2, 3, 4, 5, 6};  // 3 rows of 2; a column of them to every fourth word
  const auto copy = [&](std::size_t to_pitch, std::size_t width, std::size_t height) {
    return cudaMemcpy2DAsync(out.data(), to_pitch, from + 1, 2 * sizeof(int), width, height, cudaMemcpyHostToDevice);
  };
  EXPECT_EQ(copy(4 * sizeof(int), sizeof(int), 3), cudaSuccess);
  EXPECT_EQ(out.to_host(), (std::vector<int>{2, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 0}));
  EXPECT_EQ(copy(sizeof(int), 2 * sizeof(int), 1), cudaErrorInvalidPitchValue) << "a row is longer than the pitch";
  EXPECT_EQ(copy(16 * sizeof(int), sizeof(int), 2), cudaErrorInvalidValue) << "beyond the array";
  EXPECT_EQ(copy(0, 0, 3), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(Launches, AreNotedAndCanBeLeftOut) {
  std::vector<LaunchRecord> records;
  {
    const LaunchLogScope log(records);
    const DryRunScope dry;
    write_plainly<<<3, 64, 16>>>(out.data(), 1);
    write_more<2><<<1, 32>>>(out.data(), 1);
  }
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].kernel, reinterpret_cast<const void*>(&write_plainly));
  EXPECT_EQ(records[0].shape.grid.x, 3u);
  EXPECT_EQ(records[0].shape.block.x, 64u);
  EXPECT_EQ(records[0].shape.dynamic_shared, 16u);
  EXPECT_EQ(count(1), 0);
}

template <class T>
__global__ void past_the_end(T* out) {
  __shared__ T copy[32];
  copy[threadIdx.x] = 1;
  out[5000] = copy[threadIdx.x];
}
TEST_F(Launches, HaveTheirKernelsNames) {
  simt::InspectionResult result;
  {
    const simt::Inspection inspection(result);
    past_the_end<int><<<1, 32>>>(out.data());
    past_the_end<<<1, 32>>>(out.data());
  }
  ASSERT_EQ(result.defects.size(), 1u) << "one line, reported once";
  EXPECT_EQ(result.defects[0].kernel, "gemm::past_the_end<int>");
  ASSERT_EQ(result.kernels.size(), 2u);
  EXPECT_EQ(result.kernels[1].kernel, "past_the_end");
}

TEST(Runtime, AllocatesForAnyPointer) {
  float* floats = nullptr;
  const Pair* pairs = nullptr;
  ASSERT_EQ(cudaMalloc(&floats, 64), cudaSuccess);
  ASSERT_EQ(cudaMalloc((void**)&pairs, 64), cudaSuccess);
  EXPECT_NE(floats, nullptr);
  EXPECT_EQ(cudaFree(const_cast<Pair*>(pairs)), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&pairs, 64, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(floats, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(const_cast<Pair*>(pairs), nullptr), cudaSuccess);
}

__global__ void add_one(float* x) {
  x[threadIdx.x] += 1;
}
TEST(Runtime, SharesManagedMemoryWithTheHost) {
  float* x = nullptr;
  ASSERT_EQ(cudaMallocManaged(&x, 32 * sizeof(float)), cudaSuccess);
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i);
  FINDINGS(add_one, {.block = 32}, x).expect_silence();
  EXPECT_EQ(x[31], 32);
  EXPECT_EQ(cudaFree(x), cudaSuccess);
}

}  // namespace
}  // namespace gemm

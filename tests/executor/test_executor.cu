// The CPU executor: threads, barriers, shared memory, limits. (In a `cpu` build only; compiled as kernels are.)
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <vector>

#include "common/kernel/launch.cuh"
#include "common/simt/code/symbols.hpp"

extern __shared__ __align__(1024) unsigned char smem[];

namespace gemm {

/// As a kernel in a header is: with external linkage, the symbol table has it in no file.
template <int N>
__global__ void shared_by_files_kernel(int* out) {
  __shared__ int values[N];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = values[N - 1 - threadIdx.x];
}

namespace {

__global__ void count_kernel(std::atomic<int>* hits) {
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  hits[block * blockDim.x * blockDim.y * blockDim.z + thread]++;
}

TEST(Executor, RunsEveryThreadOfEveryBlockOnce) {
  std::vector<std::atomic<int>> hits(5 * 3 * 2 * 7 * 4 * 2);
  ASSERT_TRUE(launch(count_kernel, {.grid = {5, 3, 2}, .block = {7, 4, 2}}, hits.data()));
  for (const auto& hit : hits) EXPECT_EQ(hit, 1);
}

// Each round, every thread passes its value to a neighbour: one barrier less and the values are mixed up.
__global__ void rotate_kernel(int* out, int rounds) {
  __shared__ int values[2][256];
  const int t = threadIdx.x, n = blockDim.x;
  int mine = t;
  for (int round = 0; round < rounds; ++round) {
    values[round % 2][t] = mine;
    __syncthreads();
    mine = values[round % 2][(t + 1) % n];
  }
  out[blockIdx.x * n + t] = mine;
}

TEST(Executor, BarrierHoldsEveryThread) {
  for (const int threads : {1, 2, 32, 33, 256}) {
    std::vector<int> out(20 * threads, -1);
    ASSERT_TRUE(launch(rotate_kernel, {.grid = 20, .block = static_cast<unsigned>(threads)}, out.data(), 9));
    for (int i = 0; i < 20 * threads; ++i) ASSERT_EQ(out[i], (i % threads + 9) % threads);
  }
}

__global__ void early_exit_kernel(int* out) {
  __shared__ int value;
  if (threadIdx.x >= 10) return;  // as on the GPU, the others don't wait for those that have ended
  if (threadIdx.x == 9) value = 42;
  __syncthreads();
  out[threadIdx.x] = value;
}

TEST(Executor, EndedThreadsAreNotWaitedFor) {
  std::vector<int> out(10, 0);
  ASSERT_TRUE(launch(early_exit_kernel, {.block = 64}, out.data()));
  EXPECT_EQ(out, std::vector<int>(10, 42));
}

template <class T>
__global__ void read_unwritten_kernel(T* out) {
  __shared__ T cells[64];
  out[threadIdx.x] = cells[threadIdx.x];
  cells[threadIdx.x] = T(1);
  __syncthreads();
  if (threadIdx.x == 0) reinterpret_cast<float*>(smem)[3] = 1.0f;
}

TEST(Executor, SharedMemoryOfANewBlockIsPoison) {
  std::vector<float> singles(64);
  std::vector<double> doubles(64);
  for (int run = 0; run < 3; ++run) {  // not only the first block of a worker
    ASSERT_TRUE(launch(read_unwritten_kernel<float>, {.grid = 40, .block = 64, .dynamic_shared = 64}, singles.data()));
    ASSERT_TRUE(launch(read_unwritten_kernel<double>, {.grid = 40, .block = 64, .dynamic_shared = 64}, doubles.data()));
    for (const float x : singles) EXPECT_TRUE(std::isnan(x));
    for (const double x : doubles) EXPECT_TRUE(std::isnan(x));
  }
}

__global__ void dynamic_kernel(float* out, int count) {
  auto* cells = reinterpret_cast<float*>(smem);
  if (threadIdx.x == 0) *out = std::isnan(cells[0]) && std::isnan(cells[count - 1]) ? 1.0f : 0.0f;
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) cells[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) *out += cells[i] == i;
  }
}

TEST(Executor, DynamicSharedMemoryUpToTheLimit) {
  float out = 0;
  const int count = static_cast<int>(simt::max_dynamic_shared / sizeof(float));
  ASSERT_TRUE(launch(dynamic_kernel, {.block = 128, .dynamic_shared = simt::max_dynamic_shared}, &out, count));
  EXPECT_EQ(out, count + 1);
}

TEST(Executor, RefusesWhatNoDeviceCanRun) {
  std::atomic<int> hit = 0;
  const auto refused = [&](const LaunchShape& shape) { return !launch(count_kernel, shape, &hit); };
  EXPECT_TRUE(refused({.block = 1025}));
  EXPECT_TRUE(refused({.block = {32, 33}}));
  EXPECT_TRUE(refused({.block = {1, 1, 65}}));
  EXPECT_TRUE(refused({.grid = {1, 65536}, .block = 1}));
  EXPECT_TRUE(refused({.block = 0}));
  EXPECT_TRUE(refused({.dynamic_shared = simt::max_dynamic_shared + 1}));
  EXPECT_EQ(hit, 0);
  EXPECT_TRUE(launch(count_kernel, {.grid = 0, .block = 32}, &hit)) << "no blocks is no work";
  EXPECT_EQ(hit, 0);
}

__global__ void deep_kernel(double* out) {
  volatile double local[4096];  // 32 KB: half of a fiber's stack
  for (int i = 0; i < 4096; ++i) local[i] = threadIdx.x + i;
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < 4096; ++i) sum += local[i] - i;
  out[threadIdx.x] = sum / 4096;
}

TEST(Executor, FibersKeepTheirStacks) {
  std::vector<double> out(1024);
  ASSERT_TRUE(launch(deep_kernel, {.block = 1024}, out.data()));
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(out[i], i);
}

__global__ void overflowing_kernel(int depth, int* out) {
  volatile char local[100 * 1024];
  for (int i = depth; i < static_cast<int>(sizeof local); i += 64) local[i] = 1;
  out[threadIdx.x] = local[depth];
}

TEST(ExecutorDeathTest, StackOverflowIsAClearError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::vector<int> out(64);
  EXPECT_EXIT(
      (void)launch(overflowing_kernel, {.block = 64}, 0, out.data()), testing::ExitedWithCode(1),
      "error: stack overflow in .*overflowing_kernel: a thread's local variables and calls need more than 64 KB");
}

// Its shared memory is found among all the program's; the executor's own thread-local variables are not taken for it.
TEST(Executor, KernelsMayComeFromHeaders) {
  std::vector<int> out(64, -1);
  ASSERT_TRUE(launch(shared_by_files_kernel<64>, {.grid = 3, .block = 64}, out.data()));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 63 - i);

  bool found = false;
  for (const simt::SharedVariable& variable :
       simt::shared_variables_of(reinterpret_cast<const void*>(shared_by_files_kernel<64>))) {
    found = found || (variable.name == "values" && variable.owner_is_kernel);
    EXPECT_NE(variable.name, "stack");  // of common/simt/run/last_words.cpp
  }
  EXPECT_TRUE(found);
}

// Values that live in callee-saved and floating-point registers must survive a switch.
__global__ void registers_kernel(double* out) {
  double a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  long e = threadIdx.x, f = e * 2, g = e * 3, h = e * 4;
  for (int i = 0; i < 10; ++i) {
    __syncthreads();
    a += 1, b += 2, c += 3, d += 4, e += 1, f += 2, g += 3, h += 4;
  }
  out[threadIdx.x] = a + b + c + d + static_cast<double>(e + f + g + h);
}

TEST(Executor, RegistersSurviveASwitch) {
  std::vector<double> out(512);
  ASSERT_TRUE(launch(registers_kernel, {.block = 512}, out.data()));
  for (int i = 0; i < 512; ++i) EXPECT_EQ(out[i], 4.0 * i + 6 + 100 + 10.0 * i + 100);
}

}  // namespace
}  // namespace gemm

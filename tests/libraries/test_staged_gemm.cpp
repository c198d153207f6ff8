// The C functions (common/package/staged_gemm.h), called from C: what each computes, refuses and says.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/backend/device_memory.hpp"
#include "tests/device_test.hpp"
#include "tests/libraries/c_header.h"

namespace gemm {
namespace {

class StagedGemm : public DeviceTest {};

TEST_F(StagedGemm, ProductsOfC) {
  if (open_device().gpu) GTEST_SKIP() << "C reads the executor's memory";
  const DeviceArray<double> memory(64);
  const DeviceArray<unsigned char> workspace(1 << 20);
  EXPECT_EQ(c_header_products(memory.data(), workspace.data(), workspace.size()), 0);
}

TEST_F(StagedGemm, Refusals) {
  EXPECT_EQ(c_header_refusals(), 0);
}

TEST_F(StagedGemm, Strings) {
  EXPECT_EQ(std::string(staged_gemm_version()).find_first_not_of("0123456789."), std::string::npos);
  std::set<std::string> all;
  for (int code = -1; code <= STAGED_GEMM_FAILED; ++code) all.insert(staged_gemm_code_string(code));
  EXPECT_EQ(all.size(), 5u);
  EXPECT_STREQ(staged_gemm_code_string(-1), staged_gemm_code_string(1000));
}

// A reason belongs to the thread whose call it was.
TEST_F(StagedGemm, ReasonsOfThreads) {
  ASSERT_EQ(staged_gemm_prepare_tsmm(STAGED_GEMM_DOUBLE, -1, 1, nullptr, 1, nullptr, 1), STAGED_GEMM_INVALID);
  const std::string mine = staged_gemm_last_reason();
  EXPECT_NE(mine, "");
  std::thread([] {
    EXPECT_STREQ(staged_gemm_last_reason(), "");
    staged_gemm_prepare_tsmm(7, 1, 1, nullptr, 1, nullptr, 1);
  }).join();
  EXPECT_EQ(staged_gemm_last_reason(), mine);
}

/// SGEMM of ones, and both tall & skinny products, with kernels of any width and prepared ones, on the current device.
bool products_are_right(int width) {
  constexpr int n = 16, k = 1000;
  const staged_gemm_product product = {STAGED_GEMM_NONE, STAGED_GEMM_NONE, n, n, n, STAGED_GEMM_AUTOMATIC};
  const std::vector<float> ones(n * n, 1);
  const std::vector<double> tall(k * width, 1);
  const DeviceArray<float> x(n * n), y(n * n);
  const DeviceArray<double> a(tall.size()), b(tall.size()), c(width * width);
  const std::size_t bytes = std::max(staged_gemm_sgemm_workspace(&product, 1),
                                     staged_gemm_tsmttsm_workspace(STAGED_GEMM_DOUBLE, width, width, k));
  const DeviceArray<unsigned char> workspace(bytes);
  cudaMemcpy(x.data(), ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(a.data(), tall.data(), tall.size() * sizeof(double), cudaMemcpyHostToDevice);
  bool right = staged_gemm_sgemm(nullptr, &product, 1, x.data(), n, x.data(), n, 0, y.data(), n, workspace.data(),
                                 bytes) == STAGED_GEMM_OK;
  std::vector<float> of_sgemm(n * n);
  cudaMemcpy(of_sgemm.data(), y.data(), ones.size() * sizeof(float), cudaMemcpyDeviceToHost);
  right &= of_sgemm == std::vector<float>(n * n, n);
  for (const bool prepared : {false, true}) {
    if (prepared) {
      right &= staged_gemm_prepare_tsmm(STAGED_GEMM_DOUBLE, width, width, nullptr, width, nullptr, width) == 0;
      right &= staged_gemm_prepare_tsmttsm(STAGED_GEMM_DOUBLE, width, width, nullptr, width, nullptr, width, 0) == 0;
    }
    right &= staged_gemm_dtsmttsm(nullptr, width, width, k, 1, a.data(), width, a.data(), width, 0, c.data(), width,
                                  workspace.data(), bytes) == STAGED_GEMM_OK;
    right &= staged_gemm_dtsmm(nullptr, width, width, k, 1, a.data(), width, c.data(), width, 0, b.data(), width) ==
             STAGED_GEMM_OK;
    std::vector<double> result(tall.size());
    cudaMemcpy(result.data(), b.data(), result.size() * sizeof(double), cudaMemcpyDeviceToHost);
    right &= result == std::vector<double>(tall.size(), double{k} * width);
  }
  return right;
}

TEST_F(StagedGemm, OneDevice) {
  if (open_device().gpu && compute_capability() < 80) GTEST_SKIP() << "needs sm_80";
  EXPECT_TRUE(products_are_right(5));
}

// First calls on both at once, by a thread each; then both by one thread in turns.
TEST_F(StagedGemm, TwoDevices) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) {
    std::cerr << "*** SKIPPED, NOT RUN: needs two GPUs ***\n";
    GTEST_SKIP() << "needs two GPUs";
  }
  bool right[2] = {};
  std::vector<std::thread> threads;
  for (int device = 0; device < 2; ++device)
    threads.emplace_back([&, device] {
      right[device] = cudaSetDevice(device) == cudaSuccess && products_are_right(7) && products_are_right(40);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(right[0]);
  EXPECT_TRUE(right[1]);
  for (const int device : {1, 0, 1, 0}) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    EXPECT_TRUE(products_are_right(9)) << device;
  }
}

// First calls by several threads at once, some of which only prepare: what these leave out, the others must not. (The
// executor runs the kernels of one thread at a time.)
TEST_F(StagedGemm, FirstCallsOfThreads) {
  if (open_device().gpu && compute_capability() < 80) GTEST_SKIP() << "needs sm_80";
  constexpr int n = 16, times = 20;
  const int multiply = open_device().gpu ? 4 : 1, prepare = 3;
  const auto product_is_right = [] {
    const staged_gemm_product product = {STAGED_GEMM_NONE, STAGED_GEMM_NONE, n, n, n, STAGED_GEMM_AUTOMATIC};
    const std::vector<float> ones(n * n, 1);
    const DeviceArray<float> a(n * n), c(n * n);
    const DeviceArray<unsigned char> workspace(staged_gemm_sgemm_workspace(&product, 1));
    cudaMemcpy(a.data(), ones.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(c.data(), 0, n * n * sizeof(float));
    const int code = staged_gemm_sgemm(nullptr, &product, 1, a.data(), n, a.data(), n, 0, c.data(), n, workspace.data(),
                                       workspace.size());
    std::vector<float> result(n * n);
    cudaMemcpy(result.data(), c.data(), n * n * sizeof(float), cudaMemcpyDeviceToHost);
    return code == STAGED_GEMM_OK && result == std::vector<float>(n * n, n);
  };
  std::atomic<int> right = 0, multiplying = multiply, refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < multiply; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < times; ++j) right += product_is_right();
      --multiplying;
    });
  for (int i = 0; i < prepare; ++i)
    threads.emplace_back([&, m = 3 + i % 2] {
      do {
        refused += staged_gemm_prepare_tsmm(STAGED_GEMM_DOUBLE, m, 3, nullptr, m, nullptr, 3) != STAGED_GEMM_OK;
      } while (multiplying > 0);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, multiply * times);
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace gemm

// What programs that time the installed library share: device memory, numbers, bandwidths, medians.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <vector>

#include "staged_gemm.h"

constexpr int BLOCKS = 132 * 8, THREADS = 256;

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
inline void check(int code) {
  if (code != STAGED_GEMM_OK) throw std::runtime_error(staged_gemm_last_reason());
}
inline double* allocate(std::size_t bytes) {
  void* data = nullptr;
  check(cudaMalloc(&data, bytes));
  return static_cast<double*>(data);
}

/// A number from -1 to 1, from the i-th of 2^64.
__device__ inline double random_number(std::uint64_t i) {
  std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return static_cast<double>(static_cast<std::int64_t>(x ^ (x >> 31))) * 0x1p-63;
}

template <class Each>
__device__ void each_word(std::int64_t count, Each each) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count; i += step) each(i);
}

/// The median in ms of a work, each time behind another one, which is not timed.
inline double time_of(int times, const std::function<void()>& before, const std::function<void()>& work) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> samples(times);
  for (float& ms : samples) {
    before();
    check(cudaEventRecord(begin));
    work();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&ms, begin, end));
  }
  std::ranges::sort(samples);
  return samples[samples.size() / 2];
}
inline double time_of(int times, const std::function<void()>& work) {
  return time_of(
      times, [] {}, work);
}

__global__ void read_only(const double2* x, std::int64_t count, double* out) {
  double sum = 0;
  each_word(count, [&](std::int64_t i) { sum += x[i].x + x[i].y; });
  if (sum == 0x1.23456p-300) *out = sum;  // or nvcc would leave the loads out
}
__global__ void read_and_write(double2* x, std::int64_t count) {
  each_word(count, [&](std::int64_t i) { x[i] = make_double2(2 * x[i].x, 2 * x[i].y); });
}
/// Of so many bytes at x: a line of JSON.
inline void print_bandwidths(double* x, std::size_t bytes, double* room) {
  auto* const wide = reinterpret_cast<double2*>(x);
  const std::int64_t count = bytes / sizeof(double2);
  check(cudaMemset(x, 0, bytes));
  const double read = time_of(9, [&] { read_only<<<BLOCKS, THREADS>>>(wide, count, room); }),
               both = time_of(9, [&] { read_and_write<<<BLOCKS, THREADS>>>(wide, count); });
  std::printf("{\"read_gbs\": %.5g, \"read_and_write_gbs\": %.5g}\n", bytes / read / 1e6, 2.0 * bytes / both / 1e6);
}

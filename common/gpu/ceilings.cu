// The measured ceilings of the roofline. Each is the best of several runs: a ceiling is what can be had.
#include <algorithm>

#include "common/device.hpp"
#include "common/device_memory.hpp"
#include "common/launch.cuh"
#include "common/roofline.hpp"
#include "common/timing.hpp"

namespace gemm {
namespace {

constexpr int threads = 1024;
constexpr int blocks_per_sm = 2;  // the most threads an SM holds on sm_80 and sm_90

// Four independent 16-byte loads in flight per thread: by Little's law enough to cover the memory's latency.
__global__ void __launch_bounds__(threads) read_kernel(const float4* from, std::size_t count, float* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * threads;
  float sum = 0.0f;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x;
  for (; i + 3 * stride < count; i += 4 * stride) {
    const float4 v0 = from[i], v1 = from[i + stride], v2 = from[i + 2 * stride], v3 = from[i + 3 * stride];
    sum += (v0.x + v1.y) + (v2.z + v3.w);
  }
  if (sum == 1.2345e-33f) *sink = sum;  // never so: keeps the loads alive
}

constexpr int fma_steps = 4096;
constexpr int chains =
    8;  // independent FMAs per thread: with 16 warps a scheduler, far past the latency of four cycles

__global__ void __launch_bounds__(threads) fma_kernel(float x, float y, float* sink) {
  float sum[chains];
  for (int c = 0; c < chains; ++c) sum[c] = threadIdx.x + c;
#pragma unroll 32
  for (int step = 0; step < fma_steps; ++step) {
#pragma unroll
    for (int c = 0; c < chains; ++c) sum[c] = fmaf(sum[c], x, y);
  }
  float total = 0.0f;
  for (int c = 0; c < chains; ++c) total += sum[c];
  if (total == 1.2345e-33f) *sink = total;
}

constexpr int shared_steps = 512;
constexpr int loads_per_step = 8;
constexpr int shared_vectors = 2048;  // 32 KB of float4

// Neighbouring lanes read neighbouring 16-byte words: 512 bytes a warp, four wavefronts, no bank conflict.
__global__ void __launch_bounds__(threads) shared_kernel(float value, float* sink) {
  __shared__ float4 words[shared_vectors];
  for (int i = threadIdx.x; i < shared_vectors; i += threads) words[i] = make_float4(value, value, value, value);
  __syncthreads();
  float4 sum = make_float4(0, 0, 0, 0);
  int at = threadIdx.x;
  for (int step = 0; step < shared_steps; ++step) {
#pragma unroll
    for (int load = 0; load < loads_per_step; ++load) {
      const float4 v = words[at + 128 * load];
      sum.x += v.x;
      sum.y += v.y;
      sum.z += v.z;
      sum.w += v.w;
    }
    at = (at + 32) % threads;  // all offsets of a step stay inside without a modulo of their own
  }
  if (sum.x + sum.y + sum.z + sum.w == 1.2345e-33f) *sink = sum.x;
}

__global__ void empty_kernel() {}

double best_ms(const Work& work) {
  TimingOptions options;
  options.seconds = 0.04;
  options.min_samples = 5;
  return time_in_turns({work}, options, {}).samples[0].min();
}

Ceilings measure() {
  const DeviceInfo& device = open_device();
  const auto grid = static_cast<unsigned>(device.sm_count * blocks_per_sm);
  const LaunchShape shape{grid, threads};
  const DeviceArray<float> sink(1);
  const std::size_t all_threads = std::size_t{grid} * threads;

  Ceilings ceilings;
  // Compute first: it also brings the clocks up.
  const Work fma = [&] { return launch(fma_kernel, shape, 0.999f, 0.001f, sink.data()); };
  best_ms(fma);
  ceilings.ffma_gflops = 2.0 * all_threads * fma_steps * chains / (best_ms(fma) * 1e6);

  const double shared_bytes = 1.0 * all_threads * shared_steps * loads_per_step * sizeof(float4);
  ceilings.shared_gbs = shared_bytes / (best_ms([&] { return launch(shared_kernel, shape, 1.0f, sink.data()); }) * 1e6);

  // Far beyond the L2, yet a small part of the memory; a whole number of the read kernel's steps.
  const std::size_t step = all_threads * 4 * sizeof(float4);
  const std::size_t bytes = std::min<std::size_t>(std::size_t{1} << 31, device.memory_bytes / 8) / step * step;
  const DeviceArray<unsigned char> buffer(bytes);
  check_cuda(cudaMemset(buffer.data(), 0x3c, bytes), "fill a buffer");
  const auto* vectors = reinterpret_cast<const float4*>(buffer.data());
  ceilings.read_gbs =
      bytes / (best_ms([&] { return launch(read_kernel, shape, vectors, bytes / sizeof(float4), sink.data()); }) * 1e6);
  ceilings.copy_gbs = bytes / (best_ms([&] {
                                 return status_of(cudaMemcpyAsync(buffer.data(), buffer.data() + bytes / 2, bytes / 2,
                                                                  cudaMemcpyDeviceToDevice));
                               }) *
                               1e6);
  ceilings.launch_us = best_ms([&] { return launch(empty_kernel, {}); }) * 1e3;
  return ceilings;
}

}  // namespace

std::optional<Ceilings> measure_ceilings() {
  static const Ceilings ceilings = measure();
  return ceilings;
}

}  // namespace gemm

// The measured ceilings of the roofline. Each is the best of several runs: a ceiling is what can be had.
#include <cuda_fp16.h>

#include <algorithm>

#include "common/backend/ceilings.hpp"
#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/backend/timing.hpp"
#include "common/kernel/launch.cuh"
#include "common/kernel/ptx.cuh"

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

// STREAM's "scale" (McCalpin 1995): one array read, one written. A thread has one vector: where memory is read and
// written, blocks that live to the end of an array lose 8 % (docs/tsm/probes.md#lives).
constexpr int scale_threads = 256;
__global__ void __launch_bounds__(scale_threads) scale_kernel(const float4* from, float4* to, float by) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * scale_threads + threadIdx.x;
  const float4 v = from[i];
  to[i] = make_float4(by * v.x, by * v.y, by * v.z, by * v.w);
}

constexpr int fma_steps = 4096;
// Independent FMAs per thread: with 16 warps a scheduler, far past the latency of four cycles.
constexpr int chains = 8;

// Real: float or double.
template <class Real>
__global__ void __launch_bounds__(threads) fma_kernel(Real x, Real y, float* sink) {
  Real sum[chains];
  for (int c = 0; c < chains; ++c) sum[c] = static_cast<Real>(threadIdx.x + c);
#pragma unroll 32
  for (int step = 0; step < fma_steps; ++step) {
#pragma unroll
    for (int c = 0; c < chains; ++c) sum[c] = fma(sum[c], x, y);
  }
  Real total = 0;
  for (int c = 0; c < chains; ++c) total += sum[c];
  if (total == static_cast<Real>(1.2345e-33)) *sink = static_cast<float>(total);
}

// FP16: an HFMA2 does two.
__global__ void __launch_bounds__(threads) half_fma_kernel(float x, float y, float* sink) {
  const __half2 by = __float2half2_rn(x), plus = __float2half2_rn(y);
  __half2 sum[chains];
  for (int c = 0; c < chains; ++c) sum[c] = __float2half2_rn(static_cast<float>(threadIdx.x + c));
#pragma unroll 32
  for (int step = 0; step < fma_steps; ++step) {
#pragma unroll
    for (int c = 0; c < chains; ++c) sum[c] = __hfma2(sum[c], by, plus);
  }
  float total = 0;
  for (int c = 0; c < chains; ++c) total += __low2float(sum[c]) + __high2float(sum[c]);
  if (total == 1.2345e-33f) *sink = total;
}

// m16n8k4, of which each thread of a warp has two words of A, one of B, four sums. (m8n8k4, all that sm_80 has, runs at
// half the rate on sm_90.)
constexpr int mma_steps = 2048;
constexpr int mma_chains = 2;  // of a warp: more would not fit the registers
constexpr double mma_flops = 2.0 * 16 * 8 * 4;
__global__ void __launch_bounds__(threads) dmma_kernel([[maybe_unused]] double x, [[maybe_unused]] float* sink) {
#if __CUDA_ARCH__ >= 900
  double sum[mma_chains][4] = {};
#pragma unroll 8
  for (int step = 0; step < mma_steps; ++step) {
#pragma unroll
    for (int c = 0; c < mma_chains; ++c) {
      asm volatile(
          "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
          : "+d"(sum[c][0]), "+d"(sum[c][1]), "+d"(sum[c][2]), "+d"(sum[c][3])
          : "d"(x), "d"(x), "d"(x));
    }
  }
  double total = 0;
  for (int c = 0; c < mma_chains; ++c) total += sum[c][0] + sum[c][1] + sum[c][2] + sum[c][3];
  if (total == 1.2345e-33) *sink = static_cast<float>(total);
#endif
}

// m16n8k16 of FP16 and m16n8k8 of TF32, FP32 sums.
constexpr int tensor_chains = 4;  // independent sums per warp: with 16 warps a scheduler, far past the latency of one
template <bool half>
__global__ void __launch_bounds__(threads) tensor_kernel([[maybe_unused]] unsigned x, [[maybe_unused]] float* sink) {
#if __CUDA_ARCH__ >= 800
  const std::uint32_t a[4] = {x, x, x, x}, b[2] = {x, x};
  float sum[tensor_chains][4] = {};
#pragma unroll 8
  for (int step = 0; step < mma_steps; ++step) {
#pragma unroll
    for (int c = 0; c < tensor_chains; ++c) {
      if constexpr (half)
        ptx::mma_m16n8k16_f32_f16(sum[c], a, b, sum[c]);
      else
        ptx::mma_m16n8k8_f32_tf32(sum[c], a, b, sum[c]);
    }
  }
  float total = 0;
  for (int c = 0; c < tensor_chains; ++c) total += sum[c][0] + sum[c][1] + sum[c][2] + sum[c][3];
  if (total == 1.2345e-33f) *sink = total;
#endif
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

// A cycle through all lines of a buffer in an order that no prefetcher guesses: a linear congruential generator modulo
// a power of two has its full period if a % 4 is 1 and c is odd (Hull and Dobell 1962).
constexpr int line_words = 32;  // 128 bytes
__global__ void link_kernel(unsigned* words, unsigned lines) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < lines; i += stride)
    words[static_cast<std::size_t>(i) * line_words] = (i * 1664525u + 1013904223u) & (lines - 1);
}
constexpr int chase_steps = 4096;
__global__ void chase_kernel(const unsigned* words, unsigned* at) {
  unsigned line = *at;  // goes on where the last launch ended: these lines are in no cache
  for (int step = 0; step < chase_steps; ++step) line = __ldcg(words + static_cast<std::size_t>(line) * line_words);
  *at = line;
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
  const Work fma = [&] { return launch(fma_kernel<float>, shape, 0.999f, 0.001f, sink.data()); };
  best_ms(fma);
  const double fma_flops = 2.0 * all_threads * fma_steps * chains;
  ceilings.ffma_gflops = fma_flops / (best_ms(fma) * 1e6);
  const Work half_fma = [&] { return launch(half_fma_kernel, shape, 0.999f, 0.001f, sink.data()); };
  ceilings.hfma_gflops = 2 * fma_flops / (best_ms(half_fma) * 1e6);
  const Work fma64 = [&] { return launch(fma_kernel<double>, shape, 0.999, 0.001, sink.data()); };
  ceilings.dfma_gflops = fma_flops / (best_ms(fma64) * 1e6);
  // sm_90, sm_100 and their like; elsewhere there are no such instructions, or too few units to gain by them.
  if (device.compute_capability == 90 || device.compute_capability / 10 == 10) {
    const double flops = mma_flops * (all_threads / 32.0) * mma_steps * mma_chains;
    ceilings.dmma_gflops = flops / (best_ms([&] { return launch(dmma_kernel, shape, 0.5, sink.data()); }) * 1e6);
  }

  if (device.compute_capability >= 80) {
    const double steps = all_threads / 32.0 * mma_steps * tensor_chains;
    const auto of = [&](auto kernel, unsigned one, double flops) {
      return flops * steps / (best_ms([&] { return launch(kernel, shape, one, sink.data()); }) * 1e6);
    };
    ceilings.hmma_gflops = of(tensor_kernel<true>, 0x00010001u, 2.0 * 16 * 8 * 16);
    ceilings.tmma_gflops = of(tensor_kernel<false>, 1u, 2.0 * 16 * 8 * 8);
  }

  const double shared_bytes = 1.0 * all_threads * shared_steps * loads_per_step * sizeof(float4);
  ceilings.shared_gbs = shared_bytes / (best_ms([&] { return launch(shared_kernel, shape, 1.0f, sink.data()); }) * 1e6);

  // Far beyond the L2, yet a small part of the memory; a whole number of the read kernel's steps.
  const std::size_t step = all_threads * 8 * sizeof(float4);
  const std::size_t bytes = std::min<std::size_t>(std::size_t{1} << 31, device.memory_bytes / 8) / step * step;
  const DeviceArray<unsigned char> buffer(bytes);
  check_cuda(cudaMemset(buffer.data(), 0x3c, bytes), "fill a buffer");
  const auto* vectors = reinterpret_cast<const float4*>(buffer.data());
  ceilings.read_gbs =
      bytes / (best_ms([&] { return launch(read_kernel, shape, vectors, bytes / sizeof(float4), sink.data()); }) * 1e6);
  auto* const other_half = reinterpret_cast<float4*>(buffer.data() + bytes / 2);
  const auto of_scale = static_cast<unsigned>(bytes / 2 / sizeof(float4) / scale_threads);
  const Work scale = [&] { return launch(scale_kernel, {of_scale, scale_threads}, vectors, other_half, 0.5f); };
  ceilings.scale_gbs = bytes / (best_ms(scale) * 1e6);
  ceilings.copy_gbs = bytes / (best_ms([&] {
                                 return status_of(cudaMemcpyAsync(buffer.data(), buffer.data() + bytes / 2, bytes / 2,
                                                                  cudaMemcpyDeviceToDevice));
                               }) *
                               1e6);
  auto* const words = reinterpret_cast<unsigned*>(buffer.data());
  unsigned lines = 1;
  while (std::size_t{lines} * 2 * line_words * sizeof(unsigned) <= bytes) lines *= 2;
  check_cuda(cudaMemset(sink.data(), 0, sizeof(float)), "clear a word");
  if (const Status linked = launch(link_kernel, shape, words, lines); !linked) throw DeviceError(linked.reason);
  auto* const at = reinterpret_cast<unsigned*>(sink.data());
  ceilings.latency_ns = best_ms([&] { return launch(chase_kernel, {}, words, at); }) * 1e6 / chase_steps;
  ceilings.launch_us = best_ms([&] { return launch(empty_kernel, {}); }) * 1e3;
  return ceilings;
}

}  // namespace

std::optional<Ceilings> measure_ceilings() {
  static const Ceilings ceilings = measure();
  return ceilings;
}

}  // namespace gemm

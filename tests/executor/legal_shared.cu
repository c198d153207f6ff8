// Kernels that do nothing wrong within a block: the executor must not say a word, or no more than a warning.
#include <gtest/gtest.h>

#include "common/kernel/ptx.cuh"
#include "tests/executor/defects.hpp"

extern __shared__ __align__(1024) unsigned char smem[];

namespace gemm {
namespace {

constexpr int count = 128;

struct LegalShared : testing::Test {
  DeviceArray<float> in = counting<float>(8 * count), out = zeros<float>(8 * count);
};

__global__ void tiles(const float* in, float* out) {
  __shared__ float tile[count];
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    tile[t] = in[k * count + t];
    __syncthreads();
    for (int i = 0; i < count; ++i) sum += tile[i];
    __syncthreads();
  }
  out[blockIdx.x * count + t] = sum;
}
TEST_F(LegalShared, TilesBetweenBarriers) {
  FINDINGS(tiles, {.grid = 8, .block = count}, in.data(), out.data()).expect_silence();
  EXPECT_EQ(out.to_host()[5], 4 * count * (4 * count - 1) / 2);
}

__global__ void double_buffer(const float* in, float* out) {
  __shared__ float buffers[2][count];
  const int t = threadIdx.x;
  float sum = 0;
  buffers[0][t] = in[t];
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    if (k < 3) buffers[(k + 1) % 2][t] = in[(k + 1) * count + t];
    sum += buffers[k % 2][count - 1 - t];
    __syncthreads();
  }
  out[t] = sum;
}
TEST_F(LegalShared, DoubleBufferWithOneBarrierAStep) {
  FINDINGS(double_buffer, {.block = count}, in.data(), out.data()).expect_silence();
}

__global__ void warp_reduction(const float* in, float* out) {
  __shared__ float sums[count];
  const int t = threadIdx.x, lane = t % 32;
  sums[t] = in[t];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    if (lane < half) sums[t] += sums[t + half];
    __syncwarp();
  }
  out[t] = sums[t - lane];
}
TEST_F(LegalShared, WarpReduction) {
  FINDINGS(warp_reduction, {.block = count}, in.data(), out.data()).expect_silence();
  EXPECT_EQ(out.to_host()[0], 31 * 32 / 2);
}

// Every lane reads a neighbour's word, then reads and writes its own: others have read it, but before the __syncwarp().
__global__ void read_write_after_syncwarp(const float* in, float* out) {
  __shared__ float cells[32];
  const int t = threadIdx.x;
  cells[t] = in[t];
  __syncwarp();
  for (int step = 0; step < 5; ++step) {
    const float other = cells[(t + 1) % 32];
    __syncwarp();
    cells[t] += other;
    __syncwarp();
  }
  out[t] = cells[t];
}
TEST_F(LegalShared, ReadAndWriteOnesOwnWordAfterSyncwarp) {
  FINDINGS(read_write_after_syncwarp, {.block = 32}, in.data(), out.data()).expect_silence();
}

__global__ void halves_synchronise_separately(const float* in, float* out) {
  __shared__ float cells[32];
  const int t = threadIdx.x, half = t / 16;
  const unsigned mask = half ? 0xffff0000u : 0x0000ffffu;
  cells[t] = in[t];
  for (int step = 0; step < 2 + 3 * half; ++step) {
    __syncwarp(mask);
    const float other = cells[16 * half + (t + 1) % 16];
    __syncwarp(mask);
    cells[t] += other;
  }
  __syncwarp();
  out[t] = cells[31 - t];
}
TEST_F(LegalShared, HalvesOfAWarpSynchroniseSeparately) {
  FINDINGS(halves_synchronise_separately, {.block = 32}, in.data(), out.data()).expect_silence();
}

__global__ void shuffles_and_votes(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = in[t];
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  const unsigned ayes = __ballot_sync(0xffffffffu, t % 3 == 0);
  if (t % 2) sum += __shfl_sync(0xaaaaaaaau, sum, 1);
  out[t] = sum + __popc(ayes) + __any_sync(0xffffffffu, t == 7) + __all_sync(0xffffffffu, t >= 0);
}
TEST_F(LegalShared, ShufflesAndVotes) {
  FINDINGS(shuffles_and_votes, {.block = count}, in.data(), out.data()).expect_silence();
}

__global__ void warps_leave_early(const float* in, float* out) {
  __shared__ float cells[count];
  const int t = threadIdx.x;
  if (t >= 64) return;
  cells[t] = in[t];
  __syncthreads();
  out[t] = cells[63 - t];
}
TEST_F(LegalShared, WholeWarpsLeaveBeforeABarrier) {
  FINDINGS(warps_leave_early, {.block = count}, in.data(), out.data()).expect_silence();
}

__global__ void half_block_barriers(const float* in, float* out) {
  __shared__ float cells[count];
  const int t = threadIdx.x;
  if (t < 64) {
    cells[t] = in[t];
    __syncthreads();
    out[t] = cells[63 - t];
  } else {
    __syncthreads();
    out[t] = cells[t - 64];
  }
}
TEST_F(LegalShared, HalvesOfABlockAtDifferentBarriersAreAWarning) {
  FINDINGS(half_block_barriers, {.block = count}, in.data(), out.data())
      .expect_silence({DefectKind::half_block_barrier});
}

__global__ void lanes_leave_early(const float* in, float* out) {
  __shared__ float cells[count];
  const int t = threadIdx.x;
  if (t >= 100) return;
  cells[t] = in[t];
  __syncthreads();
  out[t] = cells[99 - t];
}
TEST_F(LegalShared, SomeLanesLeaveBeforeABarrierIsAWarning) {
  FINDINGS(lanes_leave_early, {.block = count}, in.data(), out.data()).expect_silence({DefectKind::barrier_after_exit});
}

__global__ void shared_atomics(int* out) {
  __shared__ int hits;
  __shared__ int bins[4];
  const int t = threadIdx.x;
  if (t == 0) hits = 0;
  if (t < 4) bins[t] = 0;
  __syncthreads();
  atomicAdd(&hits, 1);
  atomicMax(&bins[t % 4], t);
  __syncthreads();
  out[t] = hits + bins[t % 4];
}
TEST_F(LegalShared, AtomicsThenABarrierThenARead) {
  const auto ints = zeros<int>(count);
  FINDINGS(shared_atomics, {.block = count}, ints.data()).expect_silence();
  EXPECT_EQ(ints.to_host()[3], count + 127);
}

__global__ void atomics_of_a_warp(int* out) {
  __shared__ int hits;
  const int t = threadIdx.x;
  if (t == 0) hits = 0;
  __syncwarp();
  atomicAdd(&hits, t);
  __syncwarp();
  out[t] = hits;
}
TEST_F(LegalShared, AtomicsOfAWarpThenSyncwarpThenARead) {
  const auto ints = zeros<int>(32);
  FINDINGS(atomics_of_a_warp, {.block = 32}, ints.data()).expect_silence();
  EXPECT_EQ(ints.to_host()[0], 31 * 16);
}

__global__ void narrow_neighbours(unsigned short* halves, unsigned char* chars) {
  __shared__ unsigned short cells[count];
  __shared__ unsigned char bytes[count];
  const int t = threadIdx.x;
  cells[t] = t;
  bytes[t] = t;
  cells[t] += 1;
  __syncthreads();
  halves[t] = cells[count - 1 - t];
  chars[t] = bytes[count - 1 - t];
}
__global__ void narrow_neighbours_then_words(unsigned short* halves, unsigned* words) {
  __shared__ __align__(4) unsigned short cells[count];
  const int t = threadIdx.x;
  cells[t] = t;
  __syncthreads();
  if (t < count / 2) words[t] = reinterpret_cast<unsigned*>(cells)[t];
  __syncthreads();
  cells[count - 1 - t] = t;
  __syncthreads();
  halves[t] = cells[t];
}
TEST_F(LegalShared, NeighbouringHalvesAndBytes) {
  const auto halves = zeros<unsigned short>(count);
  const auto chars = zeros<unsigned char>(count);
  const auto words = zeros<unsigned>(count / 2);
  FINDINGS(narrow_neighbours, {.block = count}, halves.data(), chars.data()).expect_silence();
  FINDINGS(narrow_neighbours_then_words, {.grid = 1, .block = count}, halves.data(), words.data()).expect_silence();
}

__global__ void async_pipeline(const float* in, float* out) {
  __shared__ __align__(16) float stages[2][4 * 32];
  const int t = threadIdx.x;
  float sum = 0;
  ptx::cp_async_ca<16>(&stages[0][4 * t], &in[4 * t]);
  ptx::cp_async_commit();
  for (int k = 0; k < 4; ++k) {
    if (k < 3) ptx::cp_async_ca<16>(&stages[(k + 1) % 2][4 * t], &in[4 * (t + 32 * (k + 1))]);
    ptx::cp_async_commit();
    ptx::cp_async_wait<1>();
    __syncthreads();
    for (int i = 0; i < 4 * 32; ++i) sum += stages[k % 2][i];
    __syncthreads();
  }
  out[t] = sum;
}
TEST_F(LegalShared, AsyncCopyPipeline) {
  FINDINGS(async_pipeline, {.block = 32}, in.data(), out.data()).expect_silence();
  EXPECT_EQ(out.to_host()[0], 512 * 511 / 2);
}

__global__ void partitioned(const float* in, float* out, int n) {
  auto* a = reinterpret_cast<float*>(smem);
  auto* b = reinterpret_cast<double*>(smem + n * sizeof(float));
  auto* c = reinterpret_cast<unsigned char*>(b + n);
  const int t = threadIdx.x;
  a[t] = in[t];
  b[t] = in[t];
  c[t] = static_cast<unsigned char>(t);
  __syncthreads();
  out[t] = a[n - 1 - t] + static_cast<float>(b[n - 1 - t]) + c[n - 1 - t];
}
TEST_F(LegalShared, DynamicMemoryInSeveralArrays) {
  FINDINGS(partitioned, {.block = count, .dynamic_shared = count * 13}, in.data(), out.data(), count).expect_silence();
  EXPECT_EQ(out.to_host()[0], 3 * 127);
}

}  // namespace
}  // namespace gemm

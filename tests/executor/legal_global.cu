// Kernels that do nothing wrong with global memory, and other things that are allowed: not a word.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/executor/defects.hpp"

namespace gemm {
namespace {

constexpr int count = 128;
__device__ float device_table[count];
__device__ int launches;
__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};

struct LegalGlobal : testing::Test {
  DeviceArray<float> in = counting<float>(16 * count), out = zeros<float>(16 * count);
  DeviceArray<unsigned> tickets = zeros<unsigned>(64);
};

__global__ void update_in_place(float* c, float beta) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = 2 + beta * c[i];
}
TEST_F(LegalGlobal, UpdateInPlace) {
  FINDINGS(update_in_place, {.grid = 16, .block = count}, in.data(), 0.5f).expect_silence();
  EXPECT_EQ(in.to_host()[10], 7.0f);
}

__global__ void all_read_all(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += in[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
TEST_F(LegalGlobal, ManyBlocksReadTheSame) {
  FINDINGS(all_read_all, {.grid = 16, .block = count}, in.data(), out.data()).expect_silence();
}

__global__ void within_a_block(float* data, float* out) {
  const int t = threadIdx.x;
  data[t] = t;
  __syncthreads();
  out[t] = data[count - 1 - t];
  __syncthreads();
  data[count - 1 - t] = 2;
}
TEST_F(LegalGlobal, BarriersOrderGlobalMemory) {
  FINDINGS(within_a_block, {.block = count}, in.data(), out.data()).expect_silence();
}

__global__ void within_a_warp(float* data) {
  const int t = threadIdx.x;
  for (int step = 0; step < 3; ++step) {
    const float other = data[(t + 1) % 32];
    __syncwarp();
    data[t] += other;
    __syncwarp();
  }
}
TEST_F(LegalGlobal, SyncwarpOrdersGlobalMemory) {
  FINDINGS(within_a_warp, {.block = 32}, in.data()).expect_silence();
}

__global__ void global_atomics(unsigned* hits, unsigned* out) {
  const int t = threadIdx.x;
  atomicAdd(hits + blockIdx.x, 1);
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = hits[blockIdx.x];
}
TEST_F(LegalGlobal, AtomicsThenABarrierThenARead) {
  const auto ints = zeros<unsigned>(4 * count);
  FINDINGS(global_atomics, {.grid = 4, .block = count}, tickets.data(), ints.data()).expect_silence();
  EXPECT_EQ(ints.to_host()[4 * count - 1], static_cast<unsigned>(count));
}

__global__ void atomics_of_all_blocks(unsigned* hits) {
  atomicAdd(hits, 1);
}
TEST_F(LegalGlobal, AtomicsOfAllBlocks) {
  FINDINGS(atomics_of_all_blocks, {.grid = 64, .block = count}, tickets.data()).expect_silence();
  EXPECT_EQ(tickets.to_host()[0], 64u * count);
}

__global__ void last_block_reduces(const float* in, float* parts, unsigned* tickets, float* out) {
  __shared__ bool last;
  const int t = threadIdx.x, n = blockDim.x;
  parts[blockIdx.x * n + t] = in[t];
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(tickets, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b * n + n - 1 - t];
    out[t] = sum;
  }
}
__global__ void barrier_then_fence_of_one(const float* in, float* parts, unsigned* tickets, float* out) {
  __shared__ bool last;
  const int t = threadIdx.x, n = blockDim.x;
  parts[blockIdx.x * n + t] = in[t];
  __syncthreads();
  if (t == 0) {
    __threadfence();
    last = atomicAdd(tickets, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b * n + n - 1 - t];
    out[t] = sum;
  }
}
__global__ void last_block_of_one_thread(const float* in, float* parts, unsigned* tickets, float* out) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (atomicAdd(tickets, 1) == gridDim.x - 1) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];
    *out = sum;
  }
}
TEST_F(LegalGlobal, LastBlockReduces) {
  const auto parts = zeros<float>(16 * count);
  FINDINGS(last_block_reduces, {.grid = 16, .block = count}, in.data(), parts.data(), tickets.data(), out.data())
      .expect_silence();
  EXPECT_EQ(out.to_host()[0], 16 * 127);
  FINDINGS(barrier_then_fence_of_one, {.grid = 16, .block = count}, in.data(), parts.data(), tickets.data() + 1,
           out.data())
      .expect_silence();
  FINDINGS(last_block_of_one_thread, {.grid = 16, .block = 32}, in.data(), parts.data(), tickets.data() + 2, out.data())
      .expect_silence();
}

// Every thread adds its part by itself and takes a ticket: no barrier at all.
__global__ void last_thread_reduces(const float* in, float* parts, unsigned* tickets, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  parts[i] = in[i];
  __threadfence();
  if (atomicAdd(tickets, 1) == all - 1) {
    float sum = 0;
    for (unsigned b = 0; b < all; ++b) sum += parts[b];
    *out = sum;
  }
}
TEST_F(LegalGlobal, LastThreadReducesWithoutBarriers) {
  const auto parts = zeros<float>(16 * count);
  FINDINGS(last_thread_reduces, {.grid = 4, .block = 1}, in.data(), parts.data(), tickets.data(), out.data())
      .expect_silence();
  FINDINGS(last_thread_reduces, {.grid = 4, .block = 64}, in.data(), parts.data(), tickets.data() + 1, out.data())
      .expect_silence();
}

// Blocks take their number from a counter, as nobody promises that they start in order; each waits for the one before.
__global__ void chain(unsigned* tickets, volatile float* sums, const float* in) {
  const unsigned mine = atomicAdd(&tickets[0], 1);
  while (atomicAdd(&tickets[1], 0) != mine) {
  }
  __threadfence();
  sums[mine] = in[mine] + (mine > 0 ? sums[mine - 1] : 0);
  __threadfence();
  atomicExch(&tickets[1], mine + 1);
}
TEST_F(LegalGlobal, ChainOfBlocks) {
  FINDINGS(chain, {.grid = 32}, tickets.data(), out.data(), in.data()).expect_silence();
  EXPECT_EQ(out.to_host()[31], 31 * 16);
}

__global__ void narrow_neighbours(unsigned short* halves, unsigned char* bytes) {
  const unsigned b = blockIdx.x, t = threadIdx.x;
  halves[t * gridDim.x + b] = static_cast<unsigned short>(b);
  bytes[t * gridDim.x + b] = static_cast<unsigned char>(b);
}
TEST_F(LegalGlobal, NeighbouringHalvesAndBytesOfDifferentBlocks) {
  const DeviceArray<unsigned short> halves(7 * 33);
  const DeviceArray<unsigned char> bytes(7 * 33);
  FINDINGS(narrow_neighbours, {.grid = 7, .block = 33}, halves.data(), bytes.data()).expect_silence();
  EXPECT_EQ(bytes.to_host()[6], 6);
}

TEST_F(LegalGlobal, SeveralLaunchesInARow) {
  simt::InspectionResult result;
  const DeviceArray<float> middle(16 * count);
  {
    const simt::Inspection inspection(result);
    ASSERT_TRUE(launch(all_read_all, {.grid = 16, .block = count}, in.data(), middle.data()));
    ASSERT_TRUE(launch(all_read_all, {.grid = 16, .block = count}, middle.data(), out.data()));
    ASSERT_TRUE(launch(update_in_place, {.grid = 16, .block = count}, middle.data(), 1.0f));
  }
  EXPECT_EQ(result.kernels.size(), 3u);
  for (const simt::Defect& defect : result.defects) ADD_FAILURE() << defect.text();
}

struct Triple {
  float a, b, c;
};
__device__ Triple twice(Triple x) {
  return {2 * x.a, 2 * x.b, 2 * x.c};
}
__global__ void odds_and_ends(Triple by_value, const Triple* in, Triple* out, int n, int* ints) {
  static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  const int t = threadIdx.x;
  float local[16];
  for (int i = 0; i < 16; ++i) local[i] = weights[(i + t) % 8];
  Triple mine = twice(in[t]);
  mine.a += by_value.c + local[(n + t) % 16];
  std::memcpy(&out[t], &mine, sizeof mine);
  device_table[t] = mine.b;
  if (t == 0) launches = launches + table[n % 8];
  std::memset(&ints[t * n], 0, n * sizeof(int));
  std::memcpy(&ints[t * n], &ints[t * n], 0);
}
TEST_F(LegalGlobal, DeviceVariablesTablesStructsAndCopies) {
  const DeviceArray<int> ints(count * 37);
  const auto triples = zeros<Triple>(count);
  const DeviceArray<Triple> results(count);
  FINDINGS(odds_and_ends, {.block = count}, Triple{1, 2, 3}, triples.data(), results.data(), 37, ints.data())
      .expect_silence();
}

}  // namespace
}  // namespace gemm

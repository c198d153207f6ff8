// Threads that wait for one another: where a GPU goes on, the executor does, and what can't end is reported.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <set>
#include <vector>

#include "tests/executor/defects.hpp"

namespace gemm {
namespace {

template <class... Parameters>
Findings cooperative(const char* file, const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                     std::type_identity_t<Parameters>... arguments) {
  const auto call = [&]() __attribute__((no_sanitize("thread", "bounds"))) {
    kernel(arguments...);
  };
  const auto thunk = [](const void* data) __attribute__((no_sanitize("thread", "bounds"))) {
    (*static_cast<decltype(call)*>(data))();
  };
  simt::InspectionResult result;
  const simt::Inspection inspection(result);
  const simt::Launch what{grid, block, 0, reinterpret_cast<const void*>(kernel), true};
  return {file, name, status_of(simt::launch(what, {thunk, &call})), result};
}
#define COOPERATIVE(kernel, ...) cooperative(__FILE__, #kernel, kernel, __VA_ARGS__)

__device__ void lock(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void unlock(int* mutex) {
  __threadfence();
  atomicExch(mutex, 0);
}

__global__ void count_under_lock(int* mutex, int* counter) {
  lock(mutex);
  *counter = *counter + 1;
  unlock(mutex);
}
TEST(Progress, SpinLockOfAllThreads) {
  auto memory = zeros<int>(2);
  FINDINGS(count_under_lock, {.grid = 16, .block = 96}, memory.data(), memory.data() + 1).expect_silence();
  EXPECT_EQ(memory.to_host()[1], 16 * 96);
}

__global__ void count_under_try_lock(int* mutex, int* counter) {
  for (bool done = false; !done;) {
    if (atomicExch(mutex, 1) != 0) continue;
    __threadfence();
    *counter = *counter + 1;
    unlock(mutex);
    done = true;
  }
}
TEST(Progress, LockWithinAWarp) {
  auto memory = zeros<int>(2);
  FINDINGS(count_under_try_lock, {.block = 64}, memory.data(), memory.data() + 1).expect_silence();
  EXPECT_EQ(memory.to_host()[1], 64);
}

__global__ void count_by_tickets(int* tickets, int* counter) {
  if (threadIdx.x % 32 == 0) {
    const int mine = atomicAdd(tickets, 1);
    while (atomicAdd(tickets + 1, 0) != mine) {
    }
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicAdd(tickets + 1, 1);
  }
}
TEST(Progress, TicketLock) {
  for (const unsigned order : {0u, 3u}) {
    simt::set_block_order(order);
    auto memory = zeros<int>(3);
    FINDINGS(count_by_tickets, {.grid = 40, .block = 256}, memory.data(), memory.data() + 2).expect_silence();
    EXPECT_EQ(memory.to_host()[2], 40 * 8);
  }
  simt::set_block_order(0);
}

// The first block waits for the last one: of thread t, for what thread t there has written.
__global__ void wait_for_last(int* values, volatile int* flags) {
  __shared__ int before[64];
  const int t = threadIdx.x;
  before[t] = 1000 * blockIdx.x + t;
  __syncthreads();
  if (blockIdx.x + 1 < gridDim.x) {
    while (flags[blockIdx.x + 1] == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  const int theirs = blockIdx.x + 1 < gridDim.x ? values[(blockIdx.x + 1) * 64 + t] : 0;
  values[blockIdx.x * 64 + t] = theirs + before[63 - t];
  __threadfence();
  __syncthreads();
  if (t == 0) atomicExch(const_cast<int*>(flags) + blockIdx.x, 1);
}
TEST(Progress, EachBlockWaitsForTheNextAndKeepsItsSharedMemory) {
  constexpr int blocks = 60;
  auto values = zeros<int>(blocks * 64), flags = zeros<int>(blocks);
  ASSERT_TRUE(launch(wait_for_last, {.grid = 1, .block = 64}, values.data(), flags.data()));
  simt::InspectionResult result;
  {
    const simt::Inspection inspection(result);
    ASSERT_TRUE(launch(wait_for_last, {.grid = blocks, .block = 64}, values.data(), flags.data()));
  }
  for (const simt::Defect& defect : result.defects) EXPECT_NE(defect.kind, DefectKind::deadlock) << defect.text();
  int expected = 0;
  for (int block = 0; block < blocks; ++block) expected += 1000 * block + 63 - 5;
  EXPECT_EQ(values.to_host()[5], expected);
}

// Each block adds its own sum to the prefix of the block before it, which it waits for.
__global__ void look_back(const int* in, int* out, int* ticket, int* prefix, int* ready) {
  __shared__ int block, before;
  if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    before = 0;
    if (block > 0) {
      while (atomicAdd(&ready[block - 1], 0) == 0) {
      }
      __threadfence();
      before = prefix[block - 1];
    }
    int sum = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) sum += in[block * blockDim.x + i];
    prefix[block] = before + sum;
    __threadfence();
    atomicExch(&ready[block], 1);
  }
  __syncthreads();
  out[block * blockDim.x + threadIdx.x] = before;
}
TEST(Progress, DecoupledLookBack) {
  constexpr int blocks = 300, threads = 32;
  auto in = counting<int>(blocks * threads), out = zeros<int>(blocks * threads), work = zeros<int>(2 * blocks + 1);
  int* const base = work.data();
  FINDINGS(look_back, {.grid = blocks, .block = threads}, in.data(), out.data(), base, base + 1, base + 1 + blocks)
      .expect_silence();
  EXPECT_EQ(out.to_host().back(), (blocks - 1) * threads * ((blocks - 1) * threads - 1) / 2);
}

// A barrier of all blocks, made by hand.
__global__ void meet(int* arrived, int* data, int* out) {
  const int n = gridDim.x;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) data[blockIdx.x] += round + blockIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(arrived, 1);
      while (atomicAdd(arrived, 0) < n * (2 * round + 1)) {
      }
      __threadfence();
      out[blockIdx.x] = data[(blockIdx.x + 1) % n];
      __threadfence();
      atomicAdd(arrived, 1);
      while (atomicAdd(arrived, 0) < n * (2 * round + 2)) {
      }
      __threadfence();
    }
    __syncthreads();
  }
}
TEST(Progress, BarrierOfAllBlocksByHand) {
  auto memory = zeros<int>(1 + 2 * 48);
  FINDINGS(meet, {.grid = 48, .block = 256}, memory.data(), memory.data() + 1, memory.data() + 49).expect_silence();
  EXPECT_EQ(memory.to_host()[49 + 46], 3 * 47 + 3);
}

// Reads of so many words that it does not look like a wait.
__global__ void wait_for_all(int* flags) {
  const int n = gridDim.x;
  atomicExch(&flags[blockIdx.x], 1);
  for (bool all = false; !all;) {
    all = true;
    for (int b = 0; b < n; ++b) all &= atomicAdd(&flags[b], 0) == 1;
  }
}
TEST(Progress, EachBlockWaitsForAllOthers) {
  auto flags = zeros<int>(20);
  FINDINGS(wait_for_all, {.grid = 20}, flags.data()).expect_silence();
}

// What each thread changes is no word that it waits for.
__global__ void add_often(int* counters) {
  for (int i = 0; i < 2000; ++i) atomicAdd(&counters[blockIdx.x], 1);
}
TEST(Progress, AtomicsThatChangeAreNoWait) {
  auto counters = zeros<int>(4);
  FINDINGS(add_often, {.grid = 4, .block = 32}, counters.data()).expect_silence();
  EXPECT_EQ(counters.to_host()[3], 64000);
}

__global__ void sum_by_grid(const int* in, int* partial, int* out, int n, int rounds) {
  namespace cg = cooperative_groups;
  __shared__ int cells[256];
  const cg::grid_group grid = cg::this_grid();
  const int t = threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    int sum = 0;
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) sum += in[i];
    cells[t] = sum;
    __syncthreads();
    if (t == 0) {
      int all = 0;
      for (int i = 0; i < 256; ++i) all += cells[i];
      partial[grid.block_rank()] = all;
    }
    grid.sync();
    if (grid.thread_rank() == 0) {
      int all = 0;
      for (unsigned i = 0; i < grid.num_blocks(); ++i) all += partial[i];
      *out += all;
    }
    cg::sync(grid);
    if (cells[t] != sum) atomicAdd(out, 1 << 20);  // another block's shared memory
  }
}
TEST(Grid, SumsInPhases) {
  auto in = counting<int>(20000), work = zeros<int>(33);
  COOPERATIVE(sum_by_grid, 32, 256, in.data(), work.data() + 1, work.data(), 200, 5).expect_silence();
  EXPECT_EQ(work.to_host()[0], 5 * 199 * 100);
}

__global__ void read_the_next(int* data, int* out, bool sync) {
  data[blockIdx.x] = blockIdx.x;  // WRITE
  if (sync) cooperative_groups::this_grid().sync();
  out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];  // READ
}
TEST(Grid, SyncOrdersMemory) {
  auto memory = zeros<int>(128);
  COOPERATIVE(read_the_next, 64, 1, memory.data(), memory.data() + 64, true).expect_silence();
  EXPECT_EQ(memory.to_host()[64 + 63], 0);
  COOPERATIVE(read_the_next, 64, 1, memory.data(), memory.data() + 64, false)
      .expect(DefectKind::global_race, {"WRITE", "READ"}, {.two_blocks = true});
}

__global__ void first_leaves(int* out) {
  if (blockIdx.x == 0) return;
  cooperative_groups::this_grid().sync();  // WAIT
  *out = 1;
}
TEST(Grid, BlockThatHasEndedIsADeadlock) {
  auto out = zeros<int>(1);
  const auto begin = std::chrono::steady_clock::now();
  const Findings findings = COOPERATIVE(first_leaves, 8, 32, out.data());
  ASSERT_EQ(findings.result().defects.size(), 1u) << findings.text();
  EXPECT_EQ(findings.result().defects[0].kind, DefectKind::deadlock) << findings.text();
  EXPECT_NE(findings.text().find("1 of 8 blocks"), std::string::npos) << findings.text();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST(Grid, NeedsACooperativeLaunch) {
  auto out = zeros<int>(1);
  const Findings findings = FINDINGS(first_leaves, {.grid = 2, .block = 32}, out.data());
  ASSERT_EQ(findings.result().defects.size(), 1u) << findings.text();
  EXPECT_NE(findings.text().find("not cooperative"), std::string::npos) << findings.text();
}

TEST(Grid, MoreBlocksThanAreResidentAreRefused) {
  auto memory = zeros<int>(1);
  COOPERATIVE(first_leaves, 33, 256, memory.data()).expect_refusal("a cooperative launch of 33 blocks: at most 32");
}

__global__ void wait_for_block(int* flags, unsigned which) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == which) atomicExch(flags, 1);
  while (atomicAdd(flags, 0) == 0) {  // ATOMIC
  }
}
TEST(Deadlock, ABlockThatHasNoRoom) {
  auto flags = zeros<int>(1);
  FINDINGS(wait_for_block, {.grid = 20, .block = 1024}, flags.data(), 19).expect_silence();
  flags = zeros<int>(1);
  const Findings findings = FINDINGS(wait_for_block, {.grid = 40, .block = 1024}, flags.data(), 39);
  ASSERT_EQ(findings.result().defects.size(), 1u) << findings.text();
  EXPECT_NE(findings.text().find("blocks wait for room"), std::string::npos) << findings.text();
}

__global__ void lock_twice(int* mutex) {
  lock(mutex);
  lock(mutex);
}
TEST(Deadlock, ALockThatNobodyGivesBack) {
  auto mutex = zeros<int>(1);
  const Findings findings = FINDINGS(lock_twice, {.grid = 8, .block = 64}, mutex.data());
  ASSERT_EQ(findings.result().defects.size(), 1u) << findings.text();
  EXPECT_EQ(findings.result().defects[0].kind, DefectKind::deadlock) << findings.text();
}

// Several launches under one inspection, in which launches of one kernel and shape are one observation.
simt::InspectionResult looked_on(const std::function<void()>& launches) {
  simt::InspectionResult result;
  simt::Inspection inspection(result);
  inspection.merges_launches = true;
  launches();
  return result;
}

__global__ void mark_block(int* marks) {
  if (threadIdx.x == 0) marks[blockIdx.y * gridDim.x + blockIdx.x] = 1;
  __syncthreads();
}
__global__ void sum_up(const int* marks, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += marks[i] == 1;
  *out = sum;
}
TEST(Sample, RunsBlocksAllOverTheGridAndExtrapolates) {
  constexpr int width = 64, height = 32;
  DeviceArray<int> marks(width * height), out(1);
  simt::set_block_sample(16);
  const auto result = looked_on([&] {
    ASSERT_TRUE(launch(mark_block, {.grid = {width, height}, .block = 64}, marks.data()));
    ASSERT_TRUE(launch(sum_up, {}, marks.data(), out.data(), width * height));
  });
  simt::set_block_sample(0);
  EXPECT_EQ(out.to_host()[0], 16);
  EXPECT_TRUE(result.defects.empty()) << "what is not written because its block did not run is nobody's mistake";
  ASSERT_EQ(result.kernels.size(), 2u);
  const simt::KernelObservation& sampled = result.kernels[0];
  EXPECT_EQ(sampled.sampled_blocks, 16u);
  EXPECT_EQ(sampled.barriers, width * height);
  ASSERT_EQ(sampled.sites.size(), 1u);
  EXPECT_EQ(sampled.sites[0].requests, width * height);
  EXPECT_EQ(result.kernels[1].sampled_blocks, 0u) << "of one block all is run";
  const std::vector<int> ran = marks.to_host();
  for (const int corner : {0, width - 1, width * (height - 1), width * height - 1}) EXPECT_EQ(ran[corner], 1);
  std::set<int> columns;
  for (int i = 0; i < width * height; ++i) {
    if (ran[i] == 1) columns.insert(i % width);
  }
  EXPECT_GT(columns.size(), 8u);
}

TEST(Sample, CooperativeLaunchesRunWhole) {
  auto memory = zeros<int>(128);
  simt::set_block_sample(4);
  COOPERATIVE(read_the_next, 64, 1, memory.data(), memory.data() + 64, true).expect_silence();
  simt::set_block_sample(0);
  EXPECT_EQ(memory.to_host()[64], 1);
}

__global__ void increment(int* cells) {
  cells[threadIdx.x] += 1;
}
TEST(Launches, ThousandsAreCheapAndOneObservation) {
  DeviceArray<int> much(16 << 20);  // not gone through each time
  ASSERT_EQ(cudaMemset(much.data(), 0, 4 * 64), cudaSuccess);
  const auto begin = std::chrono::steady_clock::now();
  const auto result = looked_on([&] {
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(launch(increment, {.block = i % 2 == 0 ? 32 : 64}, much.data()));
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  ASSERT_EQ(result.kernels.size(), 2u);
  for (const simt::KernelObservation& kernel : result.kernels) {
    EXPECT_EQ(kernel.launches, 1000u);
    for (const simt::SiteCounts& site : kernel.sites) EXPECT_EQ(site.requests, 1000u * kernel.block.x / 32);
  }
  int first = 0;
  ASSERT_EQ(cudaMemcpy(&first, much.data(), sizeof first, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(first, 2000);
}

}  // namespace
}  // namespace gemm

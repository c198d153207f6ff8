// Fences, scopes, flags and atomics: right orders are silent, wrong ones are reported.
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/executor/defects.hpp"

#define ON_DEVICE __attribute__((section("simt_device"), used))  // as the rewriter of programs writes __device__

namespace gemm {
namespace {

constexpr int count = 64;
const Demands between_blocks{.two_blocks = true};

ON_DEVICE unsigned arrived;
ON_DEVICE float results[16];
ON_DEVICE int table[8];

struct MemoryOrder : testing::Test {
  DeviceArray<float> in = counting<float>(64 * count), out = zeros<float>(64 * count);
  DeviceArray<unsigned> words = zeros<unsigned>(64);
  DeviceArray<int> ints = zeros<int>(64);
};

// For those whose lines and blocks depend on who comes first.
void expect_race(const Findings& findings) {
  ASSERT_FALSE(findings.result().defects.empty());
  for (const simt::Defect& defect : findings.result().defects) {
    EXPECT_EQ(defect.kind, DefectKind::global_race) << defect.text();
    EXPECT_TRUE(defect.other.known) << defect.text();
  }
}

void expect_words(const Findings& findings, const std::string& words) {
  EXPECT_NE(findings.text().find(words), std::string::npos) << findings.text();
}

// The programming guide's example. Fences: the right one; none; one before the result is written.
enum class Fence { right, none, early };
template <Fence kind>
__global__ void last_block_sums(const float* in, volatile float* sums, float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    if (kind == Fence::early) __threadfence();
    sums[blockIdx.x] = in[blockIdx.x];  // WRITE
    if (kind == Fence::right) __threadfence();
    last = atomicInc(&arrived, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) {
      sum += sums[b];  // READ
    }
    *out = sum;
    arrived = 0;
  }
}
TEST_F(MemoryOrder, TheGuidesLastBlock) {
  const auto sums = zeros<float>(16);
  const LaunchShape shape{.grid = 16, .block = count};
  findings_of(__FILE__, "last_block_sums", last_block_sums<Fence::right>, shape, in.data(), sums.data(), out.data())
      .expect_silence();
  EXPECT_EQ(out.to_host()[0], 120.0f);
  arrived = 0;
  findings_of(__FILE__, "last_block_sums", last_block_sums<Fence::none>, shape, in.data(), sums.data(), out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, {.also = {}, .two_blocks = true});
  arrived = 0;
  findings_of(__FILE__, "last_block_sums", last_block_sums<Fence::early>, shape, in.data(), sums.data(), out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
  arrived = 0;
}

// A barrier cumulates: thread 0 gives away what its block wrote before.
template <bool fences>
__global__ void barrier_cumulates(float* data, unsigned* tickets, float* out) {
  __shared__ bool last;
  data[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // WRITE
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fences) __threadfence();
    last = atomicAdd(tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) {
      sum += data[b * blockDim.x + threadIdx.x];  // READ
    }
    out[threadIdx.x] = sum;
  }
}
TEST_F(MemoryOrder, BarrierCumulates) {
  const LaunchShape shape{.grid = 8, .block = count};
  findings_of(__FILE__, "barrier_cumulates", barrier_cumulates<true>, shape, in.data(), words.data(), out.data())
      .expect_silence();
  findings_of(__FILE__, "barrier_cumulates", barrier_cumulates<false>, shape, in.data(), words.data() + 1, out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
}

// One thread's fence covers no other thread's writes.
__global__ void fence_of_another_thread(float* data, unsigned* tickets, float* out) {
  if (threadIdx.x == 1) data[blockIdx.x] = 1;  // WRITE
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(tickets, 1) == gridDim.x - 1) {
      float sum = 0;
      for (unsigned b = 0; b < gridDim.x; ++b) {
        sum += data[b];  // READ
      }
      *out = sum;
    }
  }
}
TEST_F(MemoryOrder, FencesBelongToThreads) {
  expect_race(FINDINGS(fence_of_another_thread, {.grid = 8, .block = count}, in.data(), words.data(), out.data()));
}

// Its ticket is taken by thread 0, and another thread reads without a barrier.
__global__ void acquired_by_another_thread(float* data, unsigned* ready, float* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 1;  // WRITE
      __threadfence();
      atomicExch(ready, 1);
    }
  } else {
    if (threadIdx.x == 0) {
      while (atomicAdd(ready, 0) == 0) {
      }
      __threadfence();
    }
    if (threadIdx.x == 32) out[blockIdx.x] = *data;  // READ
  }
}
TEST_F(MemoryOrder, AcquiringBelongsToThreads) {
  FINDINGS(acquired_by_another_thread, {.grid = 4, .block = count}, in.data(), words.data(), out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
}

// A thread that only adds its own part, and does not look at the sum, has learnt nothing from it.
__global__ void own_atomic_only(float* data, unsigned* sum, float* out) {
  if (blockIdx.x == 0) *data = 1;  // WRITE
  __threadfence();
  atomicAdd(sum, 1);
  __threadfence();
  if (blockIdx.x != 0) out[blockIdx.x] = *data;  // READ
}
TEST_F(MemoryOrder, AWritersOwnAtomicAcquiresNothing) {
  FINDINGS(own_atomic_only, {.grid = 4, .block = 1}, in.data(), words.data(), out.data())
      .expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
}

// Flags.

enum class Look { right, without_fence, plain };
template <Look look, class Flag>
__global__ void flag(float* data, Flag* ready, float* out) {
  if (blockIdx.x == 0) {
    *data = 1;  // WRITE
    __threadfence();
    *static_cast<volatile Flag*>(ready) = 1;  // WRITE FLAG
  } else {
    if (look == Look::plain) {
      if (*ready == 0) return;  // READ FLAG
    } else {
      while (*static_cast<volatile Flag*>(ready) == 0) {  // READ FLAG VOLATILE
      }
    }
    if (look != Look::without_fence) __threadfence();
    out[blockIdx.x] = *data;  // READ
  }
}
TEST_F(MemoryOrder, VolatileFlags) {
  for (int run = 0; run < 8; ++run) {
    const auto fresh = zeros<unsigned>(1);
    findings_of(__FILE__, "flag", flag<Look::right, unsigned>, {.grid = 3, .block = 1}, in.data(), fresh.data(),
                out.data())
        .expect_silence();
  }
}
TEST_F(MemoryOrder, AFlagIsReadWithoutAcquiring) {
  for (int run = 0; run < 8; ++run) {
    const auto fresh = zeros<unsigned>(2);
    const Findings findings = findings_of(__FILE__, "flag", flag<Look::without_fence, unsigned>,
                                          {.grid = 2, .block = 1}, in.data(), fresh.data(), out.data());
    EXPECT_GE(findings.result().defects.size(), 2u) << "the flag, and what it guards";
    expect_words(findings, "no fence after");
    const Findings plain = findings_of(__FILE__, "flag", flag<Look::plain, unsigned>, {.grid = 2, .block = 1},
                                       in.data(), fresh.data() + 1, out.data());
    expect_race(plain);
  }
}

template <bool compares>
__global__ void atomic_look(float* data, unsigned* ready, float* out, bool fences) {
  if (blockIdx.x == 0) {
    *data = 1;  // WRITE
    __threadfence();
    atomicExch(ready, 1);
  } else {
    while ((compares ? atomicCAS(ready, 1, 1) : atomicAdd(ready, 0)) == 0) {
    }
    if (fences) __threadfence();
    out[blockIdx.x] = *data;  // READ
  }
}
// As its examples have it, a ticket or a flag needs no fence behind it, and a lock does.
TEST_F(MemoryOrder, ACompareAndSwapNeedsAFenceToo) {
  for (const bool fences : {true, false})
    findings_of(__FILE__, "atomic_look", atomic_look<false>, {.grid = 3, .block = 1}, in.data(), words.data() + fences,
                out.data(), fences)
        .expect_silence();
  findings_of(__FILE__, "atomic_look", atomic_look<true>, {.grid = 3, .block = 1}, in.data(), words.data() + 2,
              out.data(), true)
      .expect_silence();
  const Findings findings = findings_of(__FILE__, "atomic_look", atomic_look<true>, {.grid = 3, .block = 1}, in.data(),
                                        words.data() + 3, out.data(), false);
  findings.expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
  expect_words(findings, "no fence after the flag was read");
}

// The reader clears the flag: it comes after the one who has set it.
__global__ void handshake(float* data, unsigned* ready, float* out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    atomicExch(ready, 1);
  } else {
    while (*static_cast<volatile unsigned*>(ready) == 0) {
    }
    __threadfence();
    *out = *data;
    *ready = 0;
  }
}
TEST_F(MemoryOrder, TheReaderClearsTheFlag) {
  FINDINGS(handshake, {.grid = 2, .block = 1}, in.data(), words.data(), out.data()).expect_silence();
}

// The programming guide's atomicAdd for double: the first guess is a plain read.
__global__ void guess_and_swap(unsigned long long* sum) {
  unsigned long long old = *sum, assumed;
  do {
    assumed = old;
    old = atomicCAS(sum, assumed, assumed + 1);
  } while (assumed != old);
}
TEST_F(MemoryOrder, AFirstGuessAndACompareAndSwap) {
  const auto sum = zeros<unsigned long long>(1);
  FINDINGS(guess_and_swap, {.grid = 8, .block = count}, sum.data()).expect_silence();
  EXPECT_EQ(sum.to_host()[0], 8ull * count);
}

// Two blocks read a word, one of them writes it after a barrier of its own making.
__global__ void barrier_of_blocks(float* data, unsigned* arrived) {
  const float sum = data[0] + data[1];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) != gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) data[blockIdx.x] = sum;
}
TEST_F(MemoryOrder, ABarrierOfBlocksOrdersReaders) {
  FINDINGS(barrier_of_blocks, {.grid = 2, .block = count}, in.data(), words.data()).expect_silence();
}

// What a block has learnt it hands on, by another flag.
__global__ void three_blocks(float* data, unsigned* ready, float* out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    atomicExch(&ready[0], 1);
  } else {
    while (atomicAdd(&ready[blockIdx.x - 1], 0) == 0) {
    }
    __threadfence();
    out[blockIdx.x] = *data;
    __threadfence();
    atomicExch(&ready[blockIdx.x], 1);
  }
}
TEST_F(MemoryOrder, ByWayOfOthers) {
  FINDINGS(three_blocks, {.grid = 16, .block = 1}, in.data(), words.data(), out.data()).expect_silence();
}

// Locks.

enum class Lock { right, without_release, of_block };
template <Lock kind>
__global__ void locked(int* lock, int* sum) {
  if (threadIdx.x % 32 != 0) return;
  if (kind == Lock::of_block) {
    while (atomicCAS_block(lock, 0, 1) != 0) {
    }
    __threadfence_block();
  } else {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
  }
  *sum = *sum + 1;  // WRITE
  if (kind == Lock::right) __threadfence();
  if (kind == Lock::of_block) __threadfence_block();
  if (kind == Lock::of_block) {
    atomicExch_block(lock, 0);
  } else {
    atomicExch(lock, 0);
  }
}
TEST_F(MemoryOrder, Locks) {
  const LaunchShape shape{.grid = 8, .block = count};
  findings_of(__FILE__, "locked", locked<Lock::right>, shape, ints.data(), ints.data() + 1).expect_silence();
  EXPECT_EQ(ints.to_host()[1], 16);
  expect_race(findings_of(__FILE__, "locked", locked<Lock::without_release>, shape, ints.data() + 2, ints.data() + 3));
  findings_of(__FILE__, "locked", locked<Lock::of_block>, {.grid = 1, .block = count}, ints.data() + 4, ints.data() + 5)
      .expect_silence();
  const Findings findings =
      findings_of(__FILE__, "locked", locked<Lock::of_block>, shape, ints.data() + 6, ints.data() + 7);
  EXPECT_FALSE(findings.result().defects.empty());
  expect_words(findings, "wrong scope: an atomic of block scope");
}

__global__ void locked_in_shared(int* out) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    sum = sum + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
TEST_F(MemoryOrder, LocksInSharedMemory) {
  FINDINGS(locked_in_shared, {.grid = 4, .block = 256}, ints.data()).expect_silence();
  EXPECT_EQ(ints.to_host()[3], 8);
}

// Scopes.

__global__ void fence_of_block(float* data, unsigned* ready, float* out) {
  if (blockIdx.x == 0) {
    *data = 1;  // WRITE
    __threadfence_block();
    atomicExch(ready, 1);
  } else {
    while (atomicAdd(ready, 0) == 0) {
    }
    __threadfence();
    out[blockIdx.x] = *data;  // READ
  }
}
TEST_F(MemoryOrder, AFenceOfBlockScopeOrdersNothingForOtherBlocks) {
  const Findings findings = FINDINGS(fence_of_block, {.grid = 2, .block = 1}, in.data(), words.data(), out.data());
  findings.expect(DefectKind::global_race, {"WRITE", "READ"}, between_blocks);
  expect_words(findings, "wrong scope: a fence or atomic of block scope");
}

__global__ void mixed_scopes(unsigned* hits) {
  if (blockIdx.x == 0) {
    atomicAdd_block(hits, 1);  // ATOMIC BLOCK
  } else {
    atomicAdd(hits, 1);  // ATOMIC
  }
}
__global__ void scopes_within_reach(unsigned* hits) {
  atomicAdd_block(&hits[blockIdx.x], 1);
  atomicAdd(&hits[blockIdx.x], 1);
  atomicAdd_system(&hits[32], 1);
  atomicAdd(&hits[32], 1);
}
TEST_F(MemoryOrder, MixedScopesOfAtomics) {
  const Findings findings = FINDINGS(mixed_scopes, {.grid = 2, .block = 1}, words.data());
  findings.expect(DefectKind::global_race, {"ATOMIC BLOCK", "ATOMIC"}, between_blocks);
  FINDINGS(scopes_within_reach, {.grid = 8, .block = count}, words.data()).expect_silence();
}

// The last to have updated it is the block itself: another one has, too.
__global__ void read_after_atomics_of_blocks(unsigned* sum, unsigned* out) {
  if (blockIdx.x == 0) atomicAdd(sum, 1);  // ATOMIC
  if (blockIdx.x == 1) {
    atomicAdd(sum, 1);
    out[0] = *sum;  // READ
  }
}
TEST_F(MemoryOrder, APlainReadOfWhatBlocksHaveUpdated) {
  FINDINGS(read_after_atomics_of_blocks, {.grid = 2, .block = 1}, words.data(), words.data() + 1)
      .expect(DefectKind::global_race, {"ATOMIC", "READ"}, between_blocks);
}

// Variables of the device.

__global__ void race_on_a_variable() {
  results[0] = blockIdx.x;  // WRITE
}
__global__ void beyond_a_variable(int i) {
  volatile int* past = table;
  past[i] = 1;  // WRITE
}
TEST_F(MemoryOrder, VariablesOfTheDevice) {
  const Findings findings = FINDINGS(race_on_a_variable, {.grid = 2, .block = 1});
  findings.expect(DefectKind::global_race, {"WRITE", "WRITE"}, between_blocks);
  expect_words(findings, "byte 0 of gemm::results (64 bytes)");
  FINDINGS(beyond_a_variable, {}, 3).expect_silence();
  EXPECT_FALSE(FINDINGS(beyond_a_variable, {}, 1000).result().defects.empty());
}

// Copies of any size.

struct Large {
  float x[25];
};
__global__ void copies(float* to, const float* from, Large* structs, int what) {
  if (blockIdx.x == 1 && what == 0) std::memcpy(to, from, 12);  // COPY 12
  if (blockIdx.x == 1 && what == 1) std::memset(to, 0, 100);    // COPY 100
  if (blockIdx.x == 1 && what == 2) structs[0] = structs[1];    // COPY STRUCT
  if (blockIdx.x == 0 && what < 2) to[2] = 1;                   // WRITE
  if (blockIdx.x == 0 && what == 2) structs[0].x[24] = 1;       // WRITE STRUCT
}
TEST_F(MemoryOrder, CopiesAreAccesses) {
  const auto structs = zeros<Large>(2);
  const std::vector<std::vector<std::string>> marks = {
      {"COPY 12", "WRITE"}, {"COPY 100", "WRITE"}, {"COPY STRUCT", "WRITE STRUCT"}};
  for (int what = 0; what < 3; ++what) {
    FINDINGS(copies, {.grid = 2, .block = 1}, out.data(), in.data(), structs.data(), what)
        .expect(DefectKind::global_race, marks[static_cast<std::size_t>(what)], between_blocks);
  }
}

// One value, written by all: a race, as the C++ standard has it. The option is tests/emulate/test_same_value.py's.
__global__ void same_value(int* out) {
  *out = 1;  // WRITE
}
TEST_F(MemoryOrder, OneValueWrittenByAll) {
  FINDINGS(same_value, {.grid = 1, .block = count}, ints.data()).expect(DefectKind::global_race, {"WRITE", "WRITE"});
}

// Warps.

__global__ void volatile_reduction(const float* in, float* out) {
  __shared__ float sums[count];
  const int t = threadIdx.x;
  sums[t] = in[t];
  __syncthreads();
  if (t < 32) {
    volatile float* s = sums;
    s[t] += s[t + 32];  // READ WRITE
    s[t] += s[t + 16];
    s[t] += s[t + 8];
  }
  __syncthreads();
  out[t] = sums[0];
}
TEST_F(MemoryOrder, VolatileDoesNotReplaceSyncwarp) {
  const Findings findings = FINDINGS(volatile_reduction, {.block = count}, in.data(), out.data());
  ASSERT_FALSE(findings.result().defects.empty());
  EXPECT_EQ(findings.result().defects[0].kind, DefectKind::shared_race);
}

__global__ void shuffle_after_exit(float* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  out[t] = __shfl_down_sync(0xffffffffu, static_cast<float>(t), 16);  // CALL
}
__global__ void shuffle_of_the_living(float* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  out[t] = __shfl_up_sync(0xffffffffu, static_cast<float>(t), 1);
}
TEST_F(MemoryOrder, ShufflesThatReadFromEndedLanes) {
  const Findings findings = FINDINGS(shuffle_after_exit, {.block = 32}, out.data(), 20);
  findings.expect(DefectKind::bad_mask, {"CALL"});
  expect_words(findings, "which has ended");
  FINDINGS(shuffle_after_exit, {.block = 32}, out.data(), 32).expect_silence();
  FINDINGS(shuffle_of_the_living, {.block = 32}, out.data(), 20).expect_silence();
}

// Atomics of all types and scopes.

struct alignas(16) Pair {
  unsigned long long a, b;
};
struct Sums {
  float f;
  double d;
  unsigned long long u, bits;
  long long least, most;
  unsigned turn, back;
  unsigned short narrow;
  __half h;
  __half2 h2;
  float2 f2;
  float4 f4;
  Pair pair;
};
__global__ void all_atomics(Sums* s) {
  const int t = threadIdx.x;
  atomicAdd(&s->f, 1);
  atomicAdd_system(&s->d, 0.5);
  atomicAdd(&s->u, 1);
  atomicSub(&s->back, 1u);
  atomicMin(&s->least, -t);
  atomicMax_block(&s->most, t);
  atomicOr(&s->bits, 1ull << (t % 64));
  atomicInc(&s->turn, 9);
  atomicAdd(&s->h, __half(1));
  atomicAdd(&s->h2, __half2(1, 2));
  atomicAdd(&s->f2, float2{1, 2});
  atomicAdd(&s->f4, float4{1, 2, 3, 4});
  for (unsigned short old = 0, seen; (seen = atomicCAS(&s->narrow, old, static_cast<unsigned short>(old + 1))) != old;)
    old = seen;
  for (Pair old{0, 0}, seen;; old = seen) {
    seen = atomicCAS(&s->pair, old, Pair{old.a + 1, old.b + 2});
    if (seen.a == old.a && seen.b == old.b) break;
  }
}
TEST_F(MemoryOrder, AtomicsOfAllTypes) {
  const auto sums = zeros<Sums>(1);
  FINDINGS(all_atomics, {.block = count}, sums.data()).expect_silence();
  const Sums s = sums.to_host()[0];
  EXPECT_EQ(s.f, 64);
  EXPECT_EQ(s.d, 32);
  EXPECT_EQ(s.u, 64u);
  EXPECT_EQ(s.back, 0u - 64u);
  EXPECT_EQ(s.least, -63);
  EXPECT_EQ(s.most, 63);
  EXPECT_EQ(s.bits, ~0ull);
  EXPECT_EQ(s.turn, 4u);
  EXPECT_EQ(s.narrow, 64);
  EXPECT_EQ(static_cast<float>(s.h), 64);
  EXPECT_EQ(static_cast<float>(s.h2.y), 128);
  EXPECT_EQ(s.f2.y, 128);
  EXPECT_EQ(s.f4.w, 256);
  EXPECT_EQ(s.pair.a, 64u);
  EXPECT_EQ(s.pair.b, 128u);
}

}  // namespace
}  // namespace gemm

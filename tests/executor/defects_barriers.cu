// Barriers and warp operations that not everybody comes to, waits that never end, and launches that no device can run.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/executor/defects.hpp"

extern __shared__ __align__(1024) unsigned char smem[];

namespace gemm {
namespace {

struct Barriers : testing::Test {
  DeviceArray<int> out = zeros<int>(1024);
};

__global__ void divergent(int* out) {
  const int t = threadIdx.x;
  if (t % 2) {
    out[t] = 1;
    __syncthreads();  // WAIT1
  } else {
    __syncthreads();  // WAIT2
    out[t] = 2;
  }
}
TEST_F(Barriers, DivergentWithinAWarp) {
  FINDINGS(divergent, {.block = 32}, out.data())
      .expect(DefectKind::divergent_barrier, {"WAIT1", "WAIT2"}, {.same_warp = true});
}

// As above, but a compiler could well make one call of the two.
__global__ void divergent_alike(int* out) {
  const int t = threadIdx.x;
  if (t % 2) {
    out[t] = 1;
    __syncthreads();  // WAIT1
  } else {
    out[t] = 2;
    __syncthreads();  // WAIT2
  }
}
TEST_F(Barriers, DivergentInBranchesThatEndAlike) {
  FINDINGS(divergent_alike, {.block = 32}, out.data())
      .expect(DefectKind::divergent_barrier, {"WAIT1", "WAIT2"}, {.same_warp = true});
}

// Some lanes come to the barrier in the branch, the others to the next one.
__global__ void skipped_by_some(int* out) {
  const int t = threadIdx.x;
  if (t < 40) {
    __syncthreads();  // WAIT1
  }
  out[t] = 1;
  __syncthreads();  // WAIT2
  out[t] = 2;
}
TEST_F(Barriers, SkippedByPartOfAWarp) {
  FINDINGS(skipped_by_some, {.block = 64}, out.data())
      .expect(DefectKind::divergent_barrier, {"WAIT1", "WAIT2"},
              {.also = {DefectKind::half_block_barrier, DefectKind::barrier_after_exit}, .same_warp = true});
}

__global__ void syncwarp_against_barrier(int* out) {
  const int t = threadIdx.x;
  if (t == 5) {
    __syncthreads();  // WAIT1
  } else {
    __syncwarp();  // WAIT2
    __syncthreads();
  }
  out[t] = 1;
}
TEST_F(Barriers, SyncwarpWaitsForALaneAtABarrier) {
  FINDINGS(syncwarp_against_barrier, {.block = 64}, out.data())
      .expect(DefectKind::deadlock, {"WAIT1", "WAIT2"}, {.same_warp = true});
}

__global__ void shuffle_against_barrier(int* out) {
  const int t = threadIdx.x;
  if (t >= 16) {
    __syncthreads();  // WAIT1
  } else {
    out[t] = __shfl_sync(0xffffffffu, t, 0);  // WAIT2
    __syncthreads();
  }
}
TEST_F(Barriers, ShuffleWaitsForALaneAtABarrier) {
  FINDINGS(shuffle_against_barrier, {.block = 32}, out.data())
      .expect(DefectKind::deadlock, {"WAIT1", "WAIT2"}, {.same_warp = true});
}

__global__ void mask_without_caller(int* out) {
  const int t = threadIdx.x;
  out[t] = __ballot_sync(0x0000fffeu, t > 3);  // CALL
}
TEST_F(Barriers, MaskWithoutTheCallingLane) {
  FINDINGS(mask_without_caller, {.block = 16}, out.data()).expect(DefectKind::bad_mask, {"CALL"});
  ASSERT_TRUE(launch(mask_without_caller, {.block = 16}, out.data())) << "without inspection: broken off, no more";
}

__global__ void two_operations(int* out) {
  const int t = threadIdx.x;
  if (t < 16) {
    out[t] = __shfl_xor_sync(0xffffffffu, t, 1);  // WAIT1
  } else {
    out[t] = __any_sync(0xffffffffu, t);  // WAIT2
  }
}
TEST_F(Barriers, TwoOperationsInOneMask) {
  FINDINGS(two_operations, {.block = 32}, out.data())
      .expect(DefectKind::bad_mask, {"WAIT1", "WAIT2"}, {.same_warp = true});
}

__global__ void two_masks(int* out) {
  const int t = threadIdx.x;
  const unsigned mask = t < 16 ? 0x0001ffffu : 0xffff8000u;
  if (t < 16) {
    out[t] = __shfl_sync(mask, t, 0);  // WAIT1
  } else {
    out[t] = __shfl_sync(mask, t, 16);  // WAIT2
  }
}
TEST_F(Barriers, OverlappingMasks) {
  FINDINGS(two_masks, {.block = 32}, out.data()).expect(DefectKind::bad_mask, {"WAIT1", "WAIT2"}, {.same_warp = true});
}

__global__ void flag_that_nobody_sets(volatile int* flag, int* out) {
  while (*flag == 0) {  // READ
  }
  *out = 1;
}
__global__ void two_flags_that_nobody_sets(volatile int* flags, int* out) {
  while (flags[0] == 0 && flags[7] == 0) {  // READ
  }
  *out = 1;
}
TEST_F(Barriers, AWaitForEitherOfTwoFlagsEnds) {
  FINDINGS(two_flags_that_nobody_sets, {.block = 1}, out.data(), out.data() + 1).expect(DefectKind::deadlock, {"READ"});
}
__global__ void atomic_flag_that_nobody_sets(int* flag, int* out) {
  while (atomicAdd(flag, 0) == 0) {  // ATOMIC
  }
  *out = 1;
}
TEST_F(Barriers, AWaitThatNeverEndsEnds) {
  const auto begin = std::chrono::steady_clock::now();
  FINDINGS(flag_that_nobody_sets, {.block = 1}, out.data(), out.data() + 1).expect(DefectKind::deadlock, {"READ"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}
TEST_F(Barriers, AWaitByAtomicsThatNeverEndsEnds) {
  const auto begin = std::chrono::steady_clock::now();
  // The action's name is "reads it again and again", whatever the access.
  const Findings findings = FINDINGS(atomic_flag_that_nobody_sets, {.block = 32}, out.data(), out.data() + 1);
  ASSERT_EQ(findings.result().defects.size(), 1u) << findings.text();
  EXPECT_EQ(findings.result().defects[0].kind, DefectKind::deadlock) << findings.text();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

__global__ void use_dynamic(int* out) {
  smem[threadIdx.x] = 1;
  out[threadIdx.x] = smem[threadIdx.x];
}
__global__ void much_static(int* out) {
  __shared__ int cells[12 * 1024 + 1];
  cells[threadIdx.x] = 1;
  out[threadIdx.x] = cells[threadIdx.x] + smem[0];
}
__global__ void static_and_dynamic(int* out) {
  __shared__ int cells[12 * 1024];
  cells[threadIdx.x] = 1;
  smem[threadIdx.x] = 1;
  out[threadIdx.x] = cells[threadIdx.x] + smem[threadIdx.x];
}
TEST_F(Barriers, LaunchLimits) {
  constexpr std::size_t most = 227 * 1024;
  FINDINGS(use_dynamic, {.dynamic_shared = most + 1}, out.data()).expect_refusal("232449 bytes");
  FINDINGS(use_dynamic, {.dynamic_shared = most}, out.data()).expect_silence();
  FINDINGS(much_static, {}, out.data()).expect_refusal("static shared memory");
  FINDINGS(static_and_dynamic, {.dynamic_shared = most - 48 * 1024 + 1}, out.data()).expect_refusal("shared memory");
  FINDINGS(static_and_dynamic, {.dynamic_shared = most - 48 * 1024}, out.data()).expect_silence();
  FINDINGS(use_dynamic, {.block = 1025, .dynamic_shared = 2048}, out.data()).expect_refusal("a block of 1025");
  FINDINGS(use_dynamic, {.block = {32, 33}, .dynamic_shared = 2048}, out.data()).expect_refusal("32 x 33");
  FINDINGS(use_dynamic, {.block = {1, 1, 65}, .dynamic_shared = 2048}, out.data()).expect_refusal("1 x 1 x 65");
  FINDINGS(use_dynamic, {.grid = {1, 65536}, .dynamic_shared = 2048}, out.data()).expect_refusal("a grid of");
  FINDINGS(use_dynamic, {.grid = {1, 1, 65536}, .dynamic_shared = 2048}, out.data()).expect_refusal("a grid of");
}

__global__ void fine(int* out) {
  __shared__ int cells[32];
  cells[threadIdx.x] = 3;
  __syncthreads();
  out[threadIdx.x] = cells[31 - threadIdx.x];
}
// A launch that was broken off leaves nothing behind.
TEST_F(Barriers, LaunchAfterAnAbortedOne) {
  for (int run = 0; run < 3; ++run) {
    FINDINGS(shuffle_against_barrier, {.grid = 50, .block = 32}, out.data())
        .expect(DefectKind::deadlock, {"WAIT1", "WAIT2"}, {.same_warp = true});
    FINDINGS(fine, {.block = 32}, out.data()).expect_silence();
    EXPECT_EQ(out.to_host()[31], 3);
  }
}

}  // namespace
}  // namespace gemm

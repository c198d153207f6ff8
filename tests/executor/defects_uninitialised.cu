// Kernels that read memory that nobody has written.
#include <gtest/gtest.h>

#include "tests/executor/defects.hpp"

extern __shared__ __align__(1024) unsigned char smem[];

namespace gemm {
namespace {

struct Uninitialised : testing::Test {
  DeviceArray<float> out = zeros<float>(64);
};

__global__ void static_shared(float* out) {
  __shared__ float cells[64];
  const int t = threadIdx.x;
  if (t < 63) cells[t] = t;
  __syncthreads();
  out[t] = cells[t];  // READ
}
TEST_F(Uninitialised, StaticShared) {
  for (int run = 0; run < 3; ++run) {  // what an earlier block left there does not count
    FINDINGS(static_shared, {.grid = 1, .block = 64}, out.data()).expect(DefectKind::uninitialised_shared, {"READ"});
  }
}

__global__ void dynamic_shared(float* out) {
  auto* cells = reinterpret_cast<float*>(smem);
  const int t = threadIdx.x;
  if (t % 2) cells[t] = t;
  __syncthreads();
  out[t] = cells[t];  // READ
}
TEST_F(Uninitialised, DynamicShared) {
  FINDINGS(dynamic_shared, {.block = 64, .dynamic_shared = 256}, out.data())
      .expect(DefectKind::uninitialised_shared, {"READ"});
}

__global__ void half_of_a_shared_word(unsigned* out) {
  __shared__ __align__(4) unsigned short cells[64];
  const int t = threadIdx.x;
  cells[2 * t] = t;
  __syncthreads();
  out[t] = reinterpret_cast<unsigned*>(cells)[t];  // READ
}
__global__ void other_half_of_a_shared_word(unsigned* out) {
  __shared__ __align__(4) unsigned short cells[64];
  const int t = threadIdx.x;
  cells[2 * t] = t;
  __syncthreads();
  out[t] = cells[2 * t + 1];  // READ
}
TEST_F(Uninitialised, HalfOfASharedWord) {
  const auto words = zeros<unsigned>(32);
  FINDINGS(half_of_a_shared_word, {.block = 32}, words.data()).expect(DefectKind::uninitialised_shared, {"READ"});
  FINDINGS(other_half_of_a_shared_word, {.block = 32}, words.data()).expect(DefectKind::uninitialised_shared, {"READ"});
}

__global__ void shared_counter(int* out) {
  __shared__ int hits;
  atomicAdd(&hits, 1);  // ATOMIC
  __syncthreads();
  out[threadIdx.x] = hits;
}
TEST_F(Uninitialised, SharedCounterThatNobodySetToZero) {
  const auto hits = zeros<int>(32);
  FINDINGS(shared_counter, {.block = 32}, hits.data()).expect(DefectKind::uninitialised_shared, {"ATOMIC"});
}

__global__ void copy(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // READ
}
TEST_F(Uninitialised, GlobalNeverWritten) {
  const DeviceArray<float> in(64);
  FINDINGS(copy, {.block = 64}, in.data(), out.data()).expect(DefectKind::uninitialised_global, {"READ"});
}
TEST_F(Uninitialised, GlobalPartlyWritten) {
  const DeviceArray<float> in(64);
  ASSERT_EQ(cudaMemset(in.data(), 0, 63 * sizeof(float)), cudaSuccess);
  const Findings findings = FINDINGS(copy, {.block = 64}, in.data(), out.data());
  findings.expect(DefectKind::uninitialised_global, {"READ"});
  EXPECT_EQ(findings.result().defects.at(0).one.thread.x, 63u);
  FINDINGS(copy, {.block = 63}, in.data(), out.data()).expect_silence();
}

__global__ void scale_in_place(float* c, float beta) {
  c[threadIdx.x] = beta * c[threadIdx.x];  // READ
}
TEST_F(Uninitialised, UpdateOfWhatWasNeverSet) {
  const DeviceArray<float> c(64);
  FINDINGS(scale_in_place, {.block = 64}, c.data(), 0.0f).expect(DefectKind::uninitialised_global, {"READ"});
}

__global__ void copy_halves(const unsigned short* in, unsigned short* out) {
  out[threadIdx.x] = in[threadIdx.x];  // READ
}
TEST_F(Uninitialised, HalfOfAGlobalWord) {
  const DeviceArray<unsigned short> in(64);
  const auto halves = zeros<unsigned short>(64);
  ASSERT_EQ(cudaMemset(in.data(), 0, 33 * sizeof(unsigned short)), cudaSuccess);
  FINDINGS(copy_halves, {.block = 33}, in.data(), halves.data()).expect_silence();
  FINDINGS(copy_halves, {.block = 34}, in.data(), halves.data()).expect(DefectKind::uninitialised_global, {"READ"});
}

// What a launch that nobody inspects has written counts as written.
TEST_F(Uninitialised, LaunchesWithoutInspectionCount) {
  const DeviceArray<float> middle(64);
  const auto in = counting<float>(64);
  ASSERT_TRUE(launch(copy, {.block = 64}, in.data(), middle.data()));
  FINDINGS(copy, {.block = 64}, middle.data(), out.data()).expect_silence();
}

}  // namespace
}  // namespace gemm

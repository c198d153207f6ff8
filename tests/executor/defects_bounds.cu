// Kernels that access what is not theirs, or not aligned.
#include <gtest/gtest.h>

#include "tests/executor/defects.hpp"

extern __shared__ __align__(1024) unsigned char smem[];

namespace gemm {
namespace {

constexpr int count = 64;

struct OutOfBounds : testing::Test {
  DeviceArray<float> in = counting<float>(count), out = zeros<float>(count);
};
struct Misaligned : OutOfBounds {};

__global__ void write_at(float* out, long index) {
  const long i = index + threadIdx.x;
  out[i] = 1;  // WRITE
}
TEST_F(OutOfBounds, PastTheEnd) {
  const Findings findings = FINDINGS(write_at, {.block = 32}, out.data(), count - 31);
  findings.expect(DefectKind::out_of_bounds, {"WRITE"});
  EXPECT_EQ(findings.result().defects.at(0).one.thread.x, 31u) << "the first 31 are within";
}
TEST_F(OutOfBounds, BeforeTheStart) {
  FINDINGS(write_at, {.block = 32}, out.data(), -1).expect(DefectKind::out_of_bounds, {"WRITE"});
}
TEST_F(OutOfBounds, InTheGapBehindAnAllocation) {
  FINDINGS(write_at, {}, out.data(), count + 5).expect(DefectKind::out_of_bounds, {"WRITE"});
  FINDINGS(write_at, {}, out.data(), 15000).expect(DefectKind::out_of_bounds, {"WRITE"});
}

__global__ void read_at(const float* in, long index, float* out) {
  out[threadIdx.x] = in[index];  // READ
}
TEST_F(OutOfBounds, AfterCudaFree) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 1024), cudaSuccess);
  ASSERT_EQ(cudaMemset(memory, 0, 1024), cudaSuccess);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  FINDINGS(read_at, {.block = 1}, static_cast<const float*>(memory), 3, out.data())
      .expect(DefectKind::out_of_bounds, {"READ"});
}

__global__ void wide_read_at_the_end(const float* in, float* out) {
  const int t = threadIdx.x;
  const float2 pair = reinterpret_cast<const float2*>(in)[t];  // READ
  out[t] = pair.x + pair.y;
}
TEST_F(OutOfBounds, HalfOfAVectorPastTheEnd) {
  const auto odd = counting<float>(33);
  FINDINGS(wide_read_at_the_end, {.block = 17}, odd.data(), out.data()).expect(DefectKind::out_of_bounds, {"READ"});
}

__global__ void static_shared_past_the_end(float* out, int index) {
  __shared__ float cells[33];
  cells[threadIdx.x] = 0;
  __syncthreads();
  float* const p = cells;
  asm volatile("" ::"r"(p));        // g++ must not know what it points to
  out[threadIdx.x] = *(p + index);  // READ
}
TEST_F(OutOfBounds, StaticSharedThroughAPointer) {
  FINDINGS(static_shared_past_the_end, {.block = 33}, out.data(), 33).expect(DefectKind::out_of_bounds, {"READ"});
}

__global__ void inner_dimension(const float* in, float* out) {
  __shared__ float tile[2][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  tile[ty][tx] = in[tx];
  __syncthreads();
  out[tx] = tile[ty][tx + 1];  // INDEX
}
TEST_F(OutOfBounds, InnerDimension) {
  const Findings findings = FINDINGS(inner_dimension, {.block = {32, 1}}, in.data(), out.data());
  findings.expect(DefectKind::out_of_bounds, {"INDEX"});
  EXPECT_EQ(findings.result().defects.at(0).one.thread.x, 31u);
}

__global__ void dynamic_shared_past_the_end(float* out, int index) {
  auto* cells = reinterpret_cast<float*>(smem);
  cells[index + threadIdx.x] = 1;  // WRITE
  out[threadIdx.x] = 1;
}
TEST_F(OutOfBounds, DynamicSharedBeyondWhatTheLaunchAskedFor) {
  FINDINGS(dynamic_shared_past_the_end, {.block = 32, .dynamic_shared = 128}, out.data(), 1)
      .expect(DefectKind::out_of_bounds, {"WRITE"});
  FINDINGS(dynamic_shared_past_the_end, {.block = 32, .dynamic_shared = 128}, out.data(), 0).expect_silence();
  FINDINGS(dynamic_shared_past_the_end, {.block = 32}, out.data(), 0).expect(DefectKind::out_of_bounds, {"WRITE"});
}

__global__ void neighbour_kernel(float* out) {
  __shared__ float neighbours[256];
  neighbours[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = neighbours[threadIdx.x];
}
__global__ void into_another_kernels_array(float* out, long distance) {
  __shared__ float own[32];
  own[threadIdx.x] = 1;
  __syncthreads();
  char* p = reinterpret_cast<char*>(own);
  asm volatile("" : "+r"(p));
  out[threadIdx.x] = *reinterpret_cast<float*>(p + distance);  // READ
}
// All that lies within 16 KB of a kernel's array belongs to others: kernels of this file and of other files.
TEST_F(OutOfBounds, AnotherKernelsSharedVariable) {
  ASSERT_TRUE(launch(neighbour_kernel, {.block = 32}, out.data()));
  for (const long distance : {-4096, -2048, 2048, 4096}) {
    const Findings findings = FINDINGS(into_another_kernels_array, {.block = 1}, out.data(), distance);
    ASSERT_FALSE(findings.result().defects.empty()) << distance;
    EXPECT_NE(findings.result().defects[0].kind, DefectKind::shared_race);
  }
}

__global__ void misaligned_float4(const float* in, float4* out) {
  *out = *reinterpret_cast<const float4*>(in + 2);  // READ
}
__global__ void misaligned_double(const float* in, double* out) {
  *out = *reinterpret_cast<const double*>(in + 1);  // READ
}
__global__ void misaligned_int2(float* in) {
  *reinterpret_cast<int2*>(in + 1) = int2(1, 2);  // WRITE
}
TEST_F(Misaligned, GlobalMemory) {
  const auto quads = zeros<float4>(1);
  const auto doubles = zeros<double>(1);
  FINDINGS(misaligned_float4, {}, in.data(), quads.data()).expect(DefectKind::misaligned, {"READ"});
  FINDINGS(misaligned_double, {}, in.data(), doubles.data()).expect(DefectKind::misaligned, {"READ"});
  FINDINGS(misaligned_int2, {}, in.data()).expect(DefectKind::misaligned, {"WRITE"});
}

__global__ void misaligned_shared_float4(float4* out, int by) {
  __shared__ __align__(16) float cells[16];
  for (int i = 0; i < 16; ++i) cells[i] = i;
  *out = *reinterpret_cast<const float4*>(cells + by);  // READ
}
__global__ void misaligned_shared_double(double* out, int by) {
  __shared__ __align__(16) float cells[16];
  for (int i = 0; i < 16; ++i) cells[i] = i;
  *out = *reinterpret_cast<const double*>(cells + by);  // READ
}
__global__ void misaligned_shared_int2(int* out, int by) {
  __shared__ __align__(16) int cells[16];
  *reinterpret_cast<int2*>(cells + by) = int2(1, 2);  // WRITE
  *out = cells[by];
}
TEST_F(Misaligned, SharedMemory) {
  const auto quads = zeros<float4>(1);
  const auto doubles = zeros<double>(1);
  const auto ints = zeros<int>(1);
  FINDINGS(misaligned_shared_float4, {}, quads.data(), 1).expect(DefectKind::misaligned, {"READ"});
  FINDINGS(misaligned_shared_double, {}, doubles.data(), 3).expect(DefectKind::misaligned, {"READ"});
  FINDINGS(misaligned_shared_int2, {}, ints.data(), 1).expect(DefectKind::misaligned, {"WRITE"});
  FINDINGS(misaligned_shared_int2, {}, ints.data(), 2).expect_silence();
}

__global__ void every_thread_out_of_bounds(float* out) {
  out[1000 + blockIdx.x * blockDim.x + threadIdx.x] = 1;  // WRITE
}
TEST_F(OutOfBounds, ReportsAreBoundedAndTheNextLaunchWorks) {
  const Findings findings = FINDINGS(every_thread_out_of_bounds, {.grid = 100, .block = 256}, out.data());
  findings.expect(DefectKind::out_of_bounds, {"WRITE"});
  EXPECT_LE(findings.result().defects.size(), 64u);
  FINDINGS(write_at, {.grid = 1, .block = count}, out.data(), 0).expect_silence();
  for (const float x : out.to_host()) EXPECT_EQ(x, 1.0f);
}

}  // namespace
}  // namespace gemm

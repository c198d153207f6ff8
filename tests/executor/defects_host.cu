// Kernels that access the host's memory, another thread's stack, or write constants.
#include <gtest/gtest.h>

#include "tests/executor/defects.hpp"

namespace gemm {
namespace {

int host_counter = 5;
const int host_table[4] = {1, 2, 3, 4};
__device__ int device_counter = 7;
__constant__ float coefficients[4] = {1, 2, 3, 4};

struct HostMemory : testing::Test {
  DeviceArray<float> out = zeros<float>(64);
  DeviceArray<int> ints = zeros<int>(64);
};

__global__ void read_pointer(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // READ
}
TEST_F(HostMemory, HeapPointer) {
  const std::vector<float> host(64, 1.0f);
  FINDINGS(read_pointer, {.block = 32}, host.data(), out.data()).expect(DefectKind::host_memory, {"READ"});
}
TEST_F(HostMemory, PointerToTheHostsStack) {
  float host[64] = {};
  FINDINGS(read_pointer, {.block = 32}, host, out.data()).expect(DefectKind::host_memory, {"READ"});
}
TEST_F(HostMemory, NullPointer) {
  FINDINGS(read_pointer, {.block = 32}, nullptr, out.data()).expect(DefectKind::host_memory, {"READ"});
}

__global__ void write_pointer(float* host) {
  host[threadIdx.x] = 1;  // WRITE
}
TEST_F(HostMemory, WriteToTheHeap) {
  std::vector<float> host(64, 0.0f);
  FINDINGS(write_pointer, {.block = 32}, host.data()).expect(DefectKind::host_memory, {"WRITE"});
  for (const float x : host) EXPECT_EQ(x, 0.0f) << "what is reported does not happen";
}

__global__ void read_host_variable(int* out) {
  out[threadIdx.x] = host_counter;  // READ
}
TEST_F(HostMemory, GlobalVariableOfTheHost) {
  ++host_counter;
  const Findings findings = FINDINGS(read_host_variable, {.block = 32}, ints.data());
  findings.expect(DefectKind::host_memory, {"READ"});
  EXPECT_NE(findings.text().find("host_counter"), std::string::npos) << findings.text();
}

__global__ void read_device_things(int* out, int i) {
  device_counter = 8;
  out[0] = device_counter + host_table[i] + static_cast<int>(coefficients[i]);
}
TEST_F(HostMemory, DeviceVariablesAndConstantsAreFine) {
  FINDINGS(read_device_things, {}, ints.data(), 3).expect_silence();
  EXPECT_EQ(ints.to_host()[0], 16);
}

__global__ void write_constant(int i) {
  float* const p = const_cast<float*>(coefficients);
  p[i] = 1;  // WRITE
}
TEST_F(HostMemory, WriteToConstantMemory) {
  const Findings findings = FINDINGS(write_constant, {}, 1);
  findings.expect(DefectKind::host_memory, {"WRITE"});
  EXPECT_NE(findings.text().find("coefficients, which is constant"), std::string::npos) << findings.text();
}

__global__ void read_anothers_local(int* out) {
  __shared__ int* pointer;
  volatile int local = threadIdx.x;
  if (threadIdx.x == 0) pointer = const_cast<int*>(&local);
  __syncthreads();
  if (threadIdx.x == 1) {
    *out = *pointer;  // READ
  }
  __syncthreads();
  out[1] = local;
}
TEST_F(HostMemory, AnotherThreadsLocalVariable) {
  const Findings findings = FINDINGS(read_anothers_local, {.block = 2}, ints.data());
  findings.expect(DefectKind::host_memory, {"READ"});
  EXPECT_NE(findings.text().find("local variable of another thread"), std::string::npos) << findings.text();
}

}  // namespace
}  // namespace gemm

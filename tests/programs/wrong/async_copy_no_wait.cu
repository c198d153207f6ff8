// memcpy_async of a group: a barrier is no wait for the copy.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void reverse(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in + 64 * blockIdx.x, sizeof(tile));
  block.sync();
  const int value = tile[63 - threadIdx.x];  // defect: uninitialised shared memory or data race in shared memory
  cg::wait(block);
  out[64 * blockIdx.x + threadIdx.x] = value;
}

int main() {
  const int n = 256;
  int host[n], *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(host));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  reverse<<<n / 64, 64>>>(in, out);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(in);
  cudaFree(out);
}

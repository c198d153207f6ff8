// Kernels with C's linkage, launched by their address alone, with an array of pointers to the arguments.
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

extern "C" __global__ void sum(const int* numbers, int n, unsigned* total) {
  int own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += numbers[i];
  atomicAdd(total, own);
  cg::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) total[1] = total[0] / n;
}

extern "C" {
__global__ void fill(int* numbers, int n, int factor);
int factor_of(int n) {
  return n % 7 + 2;
}
__global__ void fill(int* numbers, int n, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] = i * factor;
}
}

int main() {
  int n = 1000, factor = factor_of(n), *numbers;
  unsigned *total, host[2];
  cudaMalloc(&numbers, n * sizeof(int));
  cudaMalloc(&total, sizeof(host));
  cudaMemset(total, 0, sizeof(host));
  void* of_fill[] = {&numbers, &n, &factor};
  cudaLaunchKernel((void*)fill, dim3((n + 127) / 128), dim3(128), of_fill, 0, nullptr);
  void* of_sum[] = {&numbers, &n, &total};
  cudaLaunchCooperativeKernel((void*)sum, dim3(2), dim3(64), of_sum, 0, nullptr);
  cudaMemcpy(host, total, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%s: %u, on average %u\n", cudaGetErrorString(cudaGetLastError()), host[0], host[1]);
  cudaFree(numbers);
  cudaFree(total);
}

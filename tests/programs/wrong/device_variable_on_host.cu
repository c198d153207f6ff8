// The host reads a __device__ variable by its name: it gets a variable of the host that no kernel writes.
#include <cstdio>

__device__ int counters[4];

__global__ void count(int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counters[i % 4], 1);
}

int main() {
  const int n = 1000;
  count<<<(n + 127) / 128, 128>>>(n);
  cudaDeviceSynchronize();
  int total = 0;
  for (int counter : counters) total += counter;  // defect: the host can't access device memory
  std::printf("%d of %d\n", total, n);
  return cudaGetLastError() != cudaSuccess;
}

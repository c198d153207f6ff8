// The host reads a __device__ variable by its name: it gets a variable of the host that no kernel writes.
#include <cstdio>

__device__ int counters[4];

__host__ __device__ int total() {
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += counters[i];  // defect: the host can't access device memory
  return sum;
}

__global__ void count(int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counters[i % 4], 1);
}

int main() {
  const int n = 1000;
  count<<<(n + 127) / 128, 128>>>(n);
  cudaDeviceSynchronize();
  std::printf("%d of %d\n", total(), n);
  return cudaGetLastError() != cudaSuccess;
}

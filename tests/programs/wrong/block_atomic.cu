// A counter of the whole grid by atomics that are atomic within a block only.
#include <cstdio>

__global__ void count_multiples(int n, int divisor, unsigned* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % divisor == 0) atomicAdd_block(count, 1u);  // defect: data race in global memory
}

int main() {
  unsigned *count, host = 0;
  const int n = 10000;
  cudaMalloc(&count, sizeof(unsigned));
  cudaMemset(count, 0, sizeof(unsigned));
  count_multiples<<<(n + 255) / 256, 256>>>(n, 3, count);
  cudaMemcpy(&host, count, sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::printf("%u of %d\n", host, n);
  cudaFree(count);
}

// The last block adds the parts of all; the fence orders them for threads of the same block only.
#include <cstdio>
#include <vector>

__device__ unsigned int blocks_done = 0;

__global__ void count_even(const int* in, int n, int* parts, int* total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int even = __syncthreads_count(i < n && in[i] % 2 == 0);
  if (threadIdx.x > 0) return;
  parts[blockIdx.x] = even;  // also here
  __threadfence_block();
  if (atomicAdd(&blocks_done, 1) == gridDim.x - 1) {
    __threadfence();
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += parts[b];  // defect: data race in global memory
    *total = sum;
  }
}

int main() {
  const int n = 5000, blocks = (n + 127) / 128;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i * 3 % 7;
  int *d_values, *d_parts, *d_total, total = 0;
  cudaMalloc(&d_values, n * sizeof(int));
  cudaMalloc(&d_parts, blocks * sizeof(int));
  cudaMalloc(&d_total, sizeof(int));
  cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  count_even<<<blocks, 128>>>(d_values, n, d_parts, d_total);
  cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", total);
  cudaFree(d_values);
  cudaFree(d_parts);
  cudaFree(d_total);
}

// The last warp of a reduction without barriers, as before Volta: volatile does not keep lanes in step.
#include <cstdio>
#include <vector>

__device__ void last_warp(volatile int* values, int t) {
  values[t] += values[t + 32];
  values[t] += values[t + 16];  // defect: data race in shared memory
  values[t] += values[t + 8];
  values[t] += values[t + 4];
  values[t] += values[t + 2];
  values[t] += values[t + 1];
}

__global__ void reduce(const int* in, int* sums) {
  __shared__ int values[128];
  const int t = threadIdx.x;
  values[t] = in[blockIdx.x * 256 + t] + in[blockIdx.x * 256 + 128 + t];
  __syncthreads();
  if (t < 64) values[t] += values[t + 64];
  __syncthreads();
  if (t < 32) last_warp(values, t);
  if (t == 0) sums[blockIdx.x] = values[0];
}

int main() {
  const int blocks = 6, n = 256 * blocks;
  std::vector<int> values(n, 1), sums(blocks);
  int *d_values, *d_sums;
  cudaMalloc(&d_values, n * sizeof(int));
  cudaMalloc(&d_sums, blocks * sizeof(int));
  cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  reduce<<<blocks, 128>>>(d_values, d_sums);
  cudaMemcpy(sums.data(), d_sums, blocks * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", sums[0]);
  cudaFree(d_values);
  cudaFree(d_sums);
}

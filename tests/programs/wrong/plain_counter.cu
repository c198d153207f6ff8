// Blocks increment one counter without an atomic.
#include <cstdio>
#include <vector>

__global__ void blocks_with_zero(const int* data, int n, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int found = __syncthreads_or(i < n && data[i] == 0);
  if (threadIdx.x == 0 && found) *count += 1;  // defect: data race in global memory
}

int main() {
  const int n = 10000;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 300;
  int *d_values, *d_count, count = 0;
  cudaMalloc(&d_values, n * sizeof(int));
  cudaMalloc(&d_count, sizeof(int));
  cudaMemset(d_count, 0, sizeof(int));
  cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  blocks_with_zero<<<(n + 127) / 128, 128>>>(d_values, n, d_count);
  cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", count);
  cudaFree(d_values);
  cudaFree(d_count);
}

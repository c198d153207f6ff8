// A tree reduction: the barrier is outside of the loop.
#include <cstdio>
#include <vector>

__global__ void reduce(const int* in, int* sums) {
  __shared__ int values[256];
  const int t = threadIdx.x;
  values[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1)
    if (t < s) values[t] += values[t + s];  // defect: data race in shared memory
  __syncthreads();
  if (t == 0) sums[blockIdx.x] = values[0];
}

int main() {
  const int threads = 256, blocks = 8, n = threads * blocks;
  std::vector<int> values(n), sums(blocks);
  for (int i = 0; i < n; ++i) values[i] = i % 10;
  int *d_values, *d_sums;
  cudaMalloc(&d_values, n * sizeof(int));
  cudaMalloc(&d_sums, blocks * sizeof(int));
  cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  reduce<<<blocks, threads>>>(d_values, d_sums);
  cudaMemcpy(sums.data(), d_sums, blocks * sizeof(int), cudaMemcpyDeviceToHost);
  for (int sum : sums) std::printf("%d\n", sum);
  cudaFree(d_values);
  cudaFree(d_sums);
}

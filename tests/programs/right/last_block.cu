// A sum in one launch: the block that finishes last adds what all blocks have left in global memory.
#include <cstdio>
#include <vector>

constexpr int THREADS = 128;
__device__ unsigned int finished = 0;

__device__ int block_sum(int value) {
  __shared__ int values[THREADS];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) values[threadIdx.x] += values[threadIdx.x + s];
    __syncthreads();
  }
  return values[0];
}

__global__ void sum(const int* in, int n, volatile int* parts, int* total) {
  __shared__ bool is_last;
  int mine = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) mine += in[i];
  const int part = block_sum(mine);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = part;
    __threadfence();  // the part is visible before the block counts as finished
    const unsigned ticket = atomicInc(&finished, gridDim.x);
    is_last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    int rest = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) rest += parts[i];
    __syncthreads();  // block_sum() uses its array again
    rest = block_sum(rest);
    if (threadIdx.x == 0) {
      *total = rest;
      finished = 0;  // ready for the next launch
    }
  }
}

int main() {
  const int n = 50000, blocks = 40;
  std::vector<int> values(n);
  int expected = 0;
  for (int i = 0; i < n; ++i) expected += values[i] = i % 23;
  int *d_values, *d_parts, *d_total;
  cudaMalloc(&d_values, n * sizeof(int));
  cudaMalloc(&d_parts, blocks * sizeof(int));
  cudaMalloc(&d_total, sizeof(int));
  cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  int wrong = 0;
  for (int launch = 0; launch < 3; ++launch) {
    int total = 0;
    sum<<<blocks, THREADS>>>(d_values, n, d_parts, d_total);
    cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("launch %d: %d, expected %d\n", launch, total, expected);
    wrong += total != expected;
  }
  cudaFree(d_values);
  cudaFree(d_parts);
  cudaFree(d_total);
  return wrong;
}

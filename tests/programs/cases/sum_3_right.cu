// Mended: the fence orders the part before the ticket, so the last block sees all parts.
#include <cstdio>
#include <vector>

constexpr int THREADS = 128;
__device__ unsigned blocks_done;

__global__ void sum(const int* in, int n, int* parts, int* total) {
  __shared__ int values[THREADS];
  __shared__ bool last;
  const int i = blockIdx.x * THREADS + threadIdx.x;
  values[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = values[0];
    __threadfence();
    last = atomicAdd(&blocks_done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    *total = 0;
    for (int block = 0; block < gridDim.x; ++block) *total += parts[block];
  }
}

int main() {
  const int n = 10000, blocks = (n + THREADS - 1) / THREADS;
  std::vector<int> numbers(n, 3);
  int *in, *parts, *total, result = 0;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&parts, blocks * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(in, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  sum<<<blocks, THREADS>>>(in, n, parts, total);
  cudaMemcpy(&result, total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d; it should be %d\n", result, 3 * n);
  cudaFree(in);
  cudaFree(parts);
  cudaFree(total);
  return cudaGetLastError() != cudaSuccess;
}

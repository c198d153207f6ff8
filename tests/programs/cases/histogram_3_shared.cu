// As before; each block counts in shared memory first, and adds each of its sums to global memory once.
#include <cstdio>
#include <vector>

constexpr int BINS = 256, THREADS = 256;

__global__ void histogram(const unsigned char* in, int n, int* bins) {
  __shared__ int mine[BINS];
  mine[threadIdx.x] = 0;  // BINS == THREADS
  __syncthreads();
  const int step = gridDim.x * THREADS;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) atomicAdd(&mine[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main() {
  const int n = 100000;
  std::vector<unsigned char> bytes(n);
  for (int i = 0; i < n; ++i) bytes[i] = (i * 7 + i / 3) % 64;  // a dark image
  unsigned char* in;
  int *bins, counts[BINS];
  cudaMalloc(&in, n);
  cudaMalloc(&bins, sizeof(counts));
  cudaMemcpy(in, bytes.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof(counts));
  histogram<<<16, THREADS>>>(in, n, bins);
  cudaMemcpy(counts, bins, sizeof(counts), cudaMemcpyDeviceToHost);
  int sum = 0;
  for (int count : counts) sum += count;
  std::printf("%d of %d bytes are counted\n", sum, n);
  cudaFree(in);
  cudaFree(bins);
  return cudaGetLastError() != cudaSuccess;
}

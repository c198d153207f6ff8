// How often each value of 2^24 bytes occurs: atomics on a copy in shared memory for each block.
#include <cstdio>
#include <vector>

constexpr int BINS = 256, THREADS = 256;

__global__ void histogram(const unsigned char* in, int n, unsigned* bins) {
  __shared__ unsigned mine[BINS];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) atomicAdd(&mine[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main() {
  const int n = 1 << 24;
  std::vector<unsigned char> in(n);
  std::vector<unsigned> expected(BINS), found(BINS);
  unsigned random = 1;
  for (int i = 0; i < n; ++i) {
    random = random * 1664525u + 1013904223u;
    ++expected[in[i] = random >> 24];
  }
  unsigned char* d_in;
  unsigned* bins;
  cudaMalloc(&d_in, n);
  cudaMalloc(&bins, BINS * sizeof(unsigned));
  cudaMemcpy(d_in, in.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, BINS * sizeof(unsigned));
  histogram<<<256, THREADS>>>(d_in, n, bins);
  cudaMemcpy(found.data(), bins, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::printf("%s\n", found == expected ? "right" : "wrong");
  cudaFree(d_in);
  cudaFree(bins);
  return found != expected;
}

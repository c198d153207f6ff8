// A histogram in three ways: atomics on global memory, on a copy per block, and on copies per warp.
#include <cstdio>
#include <vector>

constexpr int BINS = 64, THREADS = 128, WARPS = THREADS / 32;

__global__ void global_atomics(const unsigned char* data, int n, unsigned* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i] % BINS], 1);
}

__global__ void per_block(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned mine[BINS];
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&mine[data[i] % BINS], 1);
  __syncthreads();
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) atomicAdd(&bins[bin], mine[bin]);
}

__global__ void per_warp(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned copies[WARPS][BINS];
  for (int bin = threadIdx.x; bin < BINS * WARPS; bin += blockDim.x) copies[bin / BINS][bin % BINS] = 0;
  __syncthreads();
  unsigned* mine = copies[threadIdx.x / 32];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&mine[data[i] % BINS], 1);
  __syncthreads();
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
    unsigned sum = 0;
    for (int warp = 0; warp < WARPS; ++warp) sum += copies[warp][bin];
    if (sum) atomicAdd(&bins[bin], sum);
  }
}

typedef void (*Kernel)(const unsigned char*, int, unsigned*);

int main() {
  const int n = 60000;
  std::vector<unsigned char> data(n);
  std::vector<unsigned> expected(BINS), found(BINS);
  unsigned random = 1;
  for (int i = 0; i < n; ++i) {
    random = random * 1664525u + 1013904223u;
    data[i] = (random >> 24) & (random >> 16);
    ++expected[data[i] % BINS];
  }
  unsigned char* d_data;
  unsigned* d_bins;
  cudaMalloc(&d_data, n);
  cudaMalloc(&d_bins, BINS * sizeof(unsigned));
  cudaMemcpy(d_data, data.data(), n, cudaMemcpyHostToDevice);
  const Kernel kernels[] = {global_atomics, per_block, per_warp};
  int wrong = 0;
  for (int k = 0; k < 3; ++k) {
    cudaMemset(d_bins, 0, BINS * sizeof(unsigned));
    const int blocks = k == 0 ? (n + THREADS - 1) / THREADS : 16;
    kernels[k]<<<blocks, THREADS>>>(d_data, n, d_bins);
    cudaMemcpy(found.data(), d_bins, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost);
    wrong += found != expected;
    std::printf("way %d: bins 0, 1, 63: %u %u %u\n", k, found[0], found[1], found[63]);
  }
  cudaFree(d_data);
  cudaFree(d_bins);
  return wrong;
}

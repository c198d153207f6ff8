// A histogram in shared memory whose bins are incremented without atomics.
#include <cstdio>
#include <vector>

#define BINS 32

__global__ void histogram(const unsigned* data, int n, unsigned* bins) {
  __shared__ unsigned mine[BINS];
  if (threadIdx.x < BINS) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine[data[i] % BINS]++;  // defect: data race in shared memory
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main() {
  const int n = 8000;
  std::vector<unsigned> data(n), bins(BINS);
  for (int i = 0; i < n; ++i) data[i] = i * i;
  unsigned *d_data, *d_bins;
  cudaMalloc(&d_data, n * sizeof(unsigned));
  cudaMalloc(&d_bins, BINS * sizeof(unsigned));
  cudaMemset(d_bins, 0, BINS * sizeof(unsigned));
  cudaMemcpy(d_data, data.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  histogram<<<8, 128>>>(d_data, n, d_bins);
  cudaMemcpy(bins.data(), d_bins, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::printf("%u\n", bins[0]);
  cudaFree(d_data);
  cudaFree(d_bins);
}

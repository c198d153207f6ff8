// The bins of a block are never set to zero.
#include <cstdio>
#include <vector>

__global__ void histogram(const unsigned char* data, int n, int* bins) {
  __shared__ int mine[16];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[data[i] / 16], 1);  // defect: uninitialised shared memory
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main() {
  const int n = 4000;
  std::vector<unsigned char> data(n);
  for (int i = 0; i < n; ++i) data[i] = static_cast<unsigned char>(i);
  unsigned char* d_data;
  int *d_bins, bins[16];
  cudaMalloc(&d_data, n);
  cudaMalloc(&d_bins, sizeof(bins));
  cudaMemset(d_bins, 0, sizeof(bins));
  cudaMemcpy(d_data, data.data(), n, cudaMemcpyHostToDevice);
  histogram<<<4, 128>>>(d_data, n, d_bins);
  cudaMemcpy(bins, d_bins, sizeof(bins), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", bins[0], bins[15]);
  cudaFree(d_data);
  cudaFree(d_bins);
}

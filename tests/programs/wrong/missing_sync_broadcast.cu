// One thread loads the block's parameter; the other threads read it without waiting.
#include <cstdio>

__global__ void scale(float* data, const float* factors, int n) {
  __shared__ float factor;
  if (threadIdx.x == 0) factor = factors[blockIdx.x];  // also here
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;  // defect: data race in shared memory
}

int main() {
  const int n = 1000, threads = 128, blocks = (n + threads - 1) / threads;
  float *data, *factors;
  cudaMallocManaged(&data, n * sizeof(float));
  cudaMallocManaged(&factors, blocks * sizeof(float));
  for (int i = 0; i < n; ++i) data[i] = 1;
  for (int b = 0; b < blocks; ++b) factors[b] = b + 1;
  scale<<<blocks, threads>>>(data, factors, n);
  cudaDeviceSynchronize();
  std::printf("%g %g\n", data[0], data[n - 1]);
  cudaFree(data);
  cudaFree(factors);
}

// The device array has 4 bytes per element, but the copy has 8.
#include <cstdio>
#include <vector>

__global__ void negate(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = -data[i];
}

int main() {
  const int n = 1 << 20;
  std::vector<float> host(2 * n, 1.0f);
  float* device;
  cudaMalloc(&device, n * sizeof(float));
  cudaMemcpy(device, host.data(), n * sizeof(double), cudaMemcpyHostToDevice);  // defect: copy out of bounds
  negate<<<4, 256>>>(device, 1024);
  cudaMemcpy(host.data(), device, 1024 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%s, %g\n", cudaGetErrorName(cudaGetLastError()), host[0]);
  cudaFree(device);
}

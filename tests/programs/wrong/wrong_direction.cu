// The direction of the second copy does not fit its pointers.
#include <cstdio>
#include <cstdlib>

__global__ void increment(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++data[i];
}

int main() {
  const int n = 1000;
  int* host = (int*)std::malloc(n * sizeof(int));
  int* device;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&device, n * sizeof(int));
  cudaMemcpy(device, host, n * sizeof(int), cudaMemcpyHostToDevice);
  increment<<<(n + 255) / 256, 256>>>(device, n);
  cudaMemcpy(host, device, n * sizeof(int), cudaMemcpyHostToDevice);  // defect: wrong copy direction
  std::printf("%s, host[0] = %d\n", cudaGetErrorName(cudaGetLastError()), host[0]);
  cudaFree(device);
  std::free(host);
}

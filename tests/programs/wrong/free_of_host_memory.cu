// Memory of malloc() goes to cudaFree().
#include <cstdio>
#include <cstdlib>

__global__ void iota(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}

int main() {
  const int n = 300;
  int* host = (int*)malloc(n * sizeof(int));
  int* device;
  cudaMalloc(&device, n * sizeof(int));
  iota<<<(n + 63) / 64, 64>>>(device, n);
  cudaMemcpy(host, device, n * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", host[n - 1]);
  cudaFree(device);
  cudaFree(host);  // defect: wrong free
}

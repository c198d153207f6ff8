// The host follows a pointer to device memory.
#include <cstdio>

__global__ void maximum(const int* data, int n, int* result) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicMax(result, data[i]);
}

int main() {
  const int n = 500;
  int host[n], *data, *result;
  for (int i = 0; i < n; ++i) host[i] = i * 77 % 501;
  cudaMalloc(&data, sizeof(host));
  cudaMalloc(&result, sizeof(int));
  cudaMemset(result, 0, sizeof(int));
  cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice);
  maximum<<<1, 64>>>(data, n, result);
  cudaDeviceSynchronize();
  std::printf("%d\n", *result);  // defect: the host can't access device memory
  cudaFree(data);
  cudaFree(result);
}

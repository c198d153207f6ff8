// One pinned buffer feeds two copies: it is filled again while the first copy may still read it.
#include <cstdio>

__global__ void sum(const int* data, int n, int* result) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(result, data[i]);
}

int main() {
  const int n = 1000;
  int *buffer, *device, *result, host = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaHostAlloc(&buffer, n * sizeof(int), cudaHostAllocDefault);
  cudaMalloc(&device, n * sizeof(int));
  cudaMalloc(&result, sizeof(int));
  cudaMemset(result, 0, sizeof(int));
  for (int batch = 0; batch < 2; ++batch) {
    for (int i = 0; i < n; ++i) buffer[i] = batch + 1;  // defect: used before it was waited for
    cudaMemcpyAsync(device, buffer, n * sizeof(int), cudaMemcpyHostToDevice, stream);
    sum<<<1, 128, 0, stream>>>(device, n, result);
  }
  cudaStreamSynchronize(stream);
  cudaMemcpy(&host, result, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  cudaStreamDestroy(stream);
  cudaFree(device);
  cudaFree(result);
  cudaFreeHost(buffer);
}

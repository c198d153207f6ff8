// An asynchronous copy into pinned memory returns at once; the host reads before the stream is done.
#include <cstdio>

__global__ void squares(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i * i;
}

int main() {
  const int n = 4096;
  int *host, *device;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocHost(&host, n * sizeof(int));
  cudaMalloc(&device, n * sizeof(int));
  squares<<<n / 256, 256, 0, stream>>>(device, n);
  cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += host[i];  // defect: used before it was waited for
  cudaStreamSynchronize(stream);
  std::printf("%ld\n", sum);
  cudaFree(device);
  cudaFreeHost(host);
  cudaStreamDestroy(stream);
}

// The host sleeps in place of waiting. On a GPU the kernel has mostly ended by then, but nothing says so.
#include <unistd.h>

#include <cstdio>

__global__ void squares(int* to) {
  to[threadIdx.x] = threadIdx.x * threadIdx.x;  // also here
}

int main() {
  int* data;
  cudaMallocHost(&data, 64 * sizeof(int));
  squares<<<1, 64>>>(data);
  usleep(400000);
  std::printf("%d\n", data[63]);  // defect: used before it was waited for
  return cudaFreeHost(data);
}

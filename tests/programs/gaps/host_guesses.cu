// Waiting without a CUDA call. Queued work begins by itself when the host has made no call for a tenth of a second. After
// a host function the host is taken to know that it has run, even if it has only slept.
#include <unistd.h>

__global__ void fill(int* to) {
  to[threadIdx.x] = 1;
}

int main() {
  int* data;
  cudaMallocManaged(&data, 32 * sizeof(int));
  fill<<<1, 32>>>(data);
  cudaLaunchHostFunc(
      nullptr, [](void*) {}, nullptr);
  sleep(1);
  return data[3] != 1;  // gap: silent
}

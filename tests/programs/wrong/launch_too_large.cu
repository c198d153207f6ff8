// A block of 2048 threads: the launch fails, and the program does not check.
#include <cstdio>
#include <vector>

__global__ void fill(int* data, int value) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
  const int n = 8192, threads = 2048;
  std::vector<int> host(n, 0);
  int* device;
  cudaMalloc(&device, n * sizeof(int));
  cudaMemset(device, 0, n * sizeof(int));
  fill<<<n / threads, threads>>>(device, 7);  // defect: launch beyond a limit or error that nobody asked for
  cudaMemcpy(host.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(device);
}

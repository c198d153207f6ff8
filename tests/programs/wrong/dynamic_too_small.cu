// The launch asks for one byte per thread; the kernel uses one word per thread.
#include <cstdio>
#include <vector>

__global__ void reverse(int* data) {
  extern __shared__ int part[];
  const int t = threadIdx.x, base = blockIdx.x * blockDim.x;
  part[t] = data[base + t];  // defect: out of bounds
  __syncthreads();
  data[base + t] = part[blockDim.x - 1 - t];
}

int main() {
  const int threads = 128, blocks = 10, n = threads * blocks;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i;
  int* device;
  cudaMalloc(&device, n * sizeof(int));
  cudaMemcpy(device, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  reverse<<<blocks, threads, threads>>>(device);
  cudaMemcpy(values.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", values[0]);
  cudaFree(device);
}

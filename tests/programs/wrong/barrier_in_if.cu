// The two halves of a warp wait at different barriers.
#include <cstdio>

__global__ void reverse_rows(int* data, int width) {
  __shared__ int row[64];
  const int t = threadIdx.x;
  int* const mine = data + blockIdx.x * width;
  if (t < width / 2) {
    row[t] = mine[t];
    __syncthreads();  // defect: divergent barrier
  } else {
    row[t] = mine[t];
    __syncthreads();  // also here
  }
  mine[t] = row[width - 1 - t];
}

int main() {
  const int rows = 4, width = 48;
  int host[rows * width], *device;
  for (int i = 0; i < rows * width; ++i) host[i] = i;
  cudaMalloc(&device, sizeof(host));
  cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
  reverse_rows<<<rows, width>>>(device, width);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[0], host[width - 1]);
  cudaFree(device);
}

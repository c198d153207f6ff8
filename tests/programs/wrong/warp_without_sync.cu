// The lanes of a warp exchange words in shared memory without __syncwarp().
#include <cstdio>

__global__ void rotate(int* data) {
  __shared__ int words[4][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  words[warp][lane] = data[threadIdx.x];               // also here
  const int neighbour = words[warp][(lane + 1) % 32];  // defect: data race in shared memory
  data[threadIdx.x] = neighbour;
}

int main() {
  int host[128], *device;
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaMalloc(&device, sizeof(host));
  cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
  rotate<<<1, 128>>>(device);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[0], host[31]);
  cudaFree(device);
}

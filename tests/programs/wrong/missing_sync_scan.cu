// An inclusive scan in one buffer: a thread may read a word that its neighbour has already changed.
#include <cstdio>

__global__ void scan(int* data) {
  extern __shared__ int temp[];
  const int t = threadIdx.x;
  temp[t] = data[t];
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    int value = 0;
    if (t >= offset) value = temp[t - offset];  // defect: data race in shared memory
    temp[t] += value;                           // also here
    __syncthreads();
  }
  data[t] = temp[t];
}

int main() {
  const int n = 512;
  int host[n], *device;
  for (int i = 0; i < n; ++i) host[i] = 1;
  cudaMalloc(&device, sizeof(host));
  cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
  scan<<<1, n, n * sizeof(int)>>>(device);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[n - 1]);
  cudaFree(device);
}

// Managed memory is read by the host while the kernel may still run.
#include <cstdio>

__global__ void cubes(long long* data, int n) {
  const long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i * i * i;
}

int main() {
  const int n = 2000;
  long long* data;
  cudaMallocManaged(&data, n * sizeof(long long));
  cubes<<<(n + 127) / 128, 128>>>(data, n);
  long long sum = 0;
  for (int i = 0; i < n; ++i) sum += data[i];  // defect: used before it was waited for
  cudaDeviceSynchronize();
  std::printf("%lld\n", sum);
  cudaFree(data);
}

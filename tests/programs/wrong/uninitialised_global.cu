// A sum is added to a word that was never set to zero.
#include <cstdio>
#include <vector>

__global__ void accumulate(const int* in, int n, int* total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = i < n ? in[i] : 0;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(total, value);  // warning: atomic operation on uninitialised global memory
}

int main() {
  const int n = 3000;
  std::vector<int> values(n, 2);
  int *d_values, *d_total, total = 0;
  cudaMalloc(&d_values, n * sizeof(int));
  cudaMalloc(&d_total, sizeof(int));
  cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  accumulate<<<(n + 255) / 256, 256>>>(d_values, n, d_total);
  cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", total);
  cudaFree(d_values);
  cudaFree(d_total);
}

// A warp's sum by shuffles with a full mask, though some lanes have returned.
#include <cstdio>
#include <vector>

__global__ void sum_warps(const int* in, int n, int* total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int value = in[i];
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);  // defect: wrong mask
  if (threadIdx.x % 32 == 0) atomicAdd(total, value);
}

int main() {
  const int n = 1000;
  std::vector<int> values(n, 1);
  int *d_values, *d_total, total = 0;
  cudaMalloc(&d_values, n * sizeof(int));
  cudaMalloc(&d_total, sizeof(int));
  cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_total, 0, sizeof(int));
  sum_warps<<<(n + 255) / 256, 256>>>(d_values, n, d_total);
  cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", total);
  cudaFree(d_values);
  cudaFree(d_total);
}

// The largest element. A plain read saves most atomics, but nothing orders it with the atomics of other threads.
#include <cstdio>
#include <vector>

__global__ void largest(const int* in, int n, int* result) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > *result)  // defect: data race in global memory
    atomicMax(result, in[i]);
}

int main() {
  const int n = 5000;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i * 7 % 5003;
  int *in, *result, found = 0;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&result, sizeof(int));
  cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(result, 0, sizeof(int));
  largest<<<(n + 255) / 256, 256>>>(in, n, result);
  cudaMemcpy(&found, result, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", found);
  cudaFree(in);
  cudaFree(result);
}

// Two pointers to one allocation, and both are freed.
#include <cstdio>
#include <utility>

__global__ void halve(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] / 2;
}

int main() {
  const int n = 1000;
  int *now, *next, first = 0;
  cudaMalloc(&now, n * sizeof(int));
  cudaMalloc(&next, n * sizeof(int));
  cudaMemset(now, 1, n * sizeof(int));
  int* const result = next;
  for (int step = 0; step < 3; ++step) {
    halve<<<(n + 255) / 256, 256>>>(now, next, n);
    std::swap(now, next);
  }
  cudaMemcpy(&first, now, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", first);
  cudaFree(now);
  cudaFree(next);
  cudaFree(result);  // defect: wrong free
}

// printf() and assert() in a kernel; the assertions hold.
#include <assert.h>
#include <stdio.h>

__device__ const char* parity(int value) {
  return value % 2 ? "odd" : "even";
}

__global__ void collatz(const int* start, int* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(blockDim.x * gridDim.x >= n);
  if (i >= n) return;
  assert(start[i] > 0);
  unsigned long long value = start[i];
  int count = 0;
  while (value != 1) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++count;
    assert(count < 1000 && "does it ever end?");
  }
  steps[i] = count;
}

__global__ void report(const int* start, const int* steps, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += steps[i];
  printf("[%d, %d] first %d: %d steps, %s; mean %.2f; %c %5.1f%% %x %llu\n", blockIdx.x, threadIdx.x, start[0],
         steps[0], parity(steps[0]), sum / n, '|', 12.5, 48879, 1ull << 40);
}

int main() {
  const int n = 500;
  int h_start[n], *start, *steps;
  for (int i = 0; i < n; ++i) h_start[i] = 27 + i;
  cudaMalloc(&start, sizeof(h_start));
  cudaMalloc(&steps, sizeof(h_start));
  cudaMemcpy(start, h_start, sizeof(h_start), cudaMemcpyHostToDevice);
  collatz<<<(n + 127) / 128, 128>>>(start, steps, n);
  report<<<1, 1>>>(start, steps, n);
  cudaError_t status = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(status));
  cudaFree(start);
  cudaFree(steps);
  return status != cudaSuccess;
}

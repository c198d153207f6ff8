// Exclusive scan by Blelloch: sums up a tree, then partial sums down again. Padding avoids bank conflicts.
#include <cassert>
#include <cstdio>
#include <vector>

#define LOG_BANKS 5
#define PADDED(i) ((i) + ((i) >> LOG_BANKS))

__global__ void scan(int* data, int n) {  // n: a power of two, twice the threads of the only block
  extern __shared__ int temp[];
  const int t = threadIdx.x;
  temp[PADDED(2 * t)] = data[2 * t];
  temp[PADDED(2 * t + 1)] = data[2 * t + 1];
  int offset = 1;
  for (int active = n >> 1; active > 0; active >>= 1) {
    __syncthreads();
    if (t < active) temp[PADDED(offset * (2 * t + 2) - 1)] += temp[PADDED(offset * (2 * t + 1) - 1)];
    offset *= 2;
  }
  if (t == 0) temp[PADDED(n - 1)] = 0;
  for (int active = 1; active < n; active *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < active) {
      const int left = PADDED(offset * (2 * t + 1) - 1), right = PADDED(offset * (2 * t + 2) - 1);
      const int value = temp[left];
      temp[left] = temp[right];
      temp[right] += value;
    }
  }
  __syncthreads();
  data[2 * t] = temp[PADDED(2 * t)];
  data[2 * t + 1] = temp[PADDED(2 * t + 1)];
}

int main() {
  for (int n = 2; n <= 2048; n *= 4) {
    std::vector<int> values(n), scanned(n);
    for (int i = 0; i < n; ++i) values[i] = 3 * i % 8;
    int* d_data;
    cudaMalloc(&d_data, n * sizeof(int));
    cudaMemcpy(d_data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    scan<<<1, n / 2, (PADDED(n - 1) + 1) * sizeof(int)>>>(d_data, n);
    cudaMemcpy(scanned.data(), d_data, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_data);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      assert(scanned[i] == sum);
      sum += values[i];
    }
    std::printf("n %4d: last %d\n", n, scanned[n - 1]);
  }
  return cudaGetLastError() != cudaSuccess;
}

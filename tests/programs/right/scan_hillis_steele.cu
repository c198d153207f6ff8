// Inclusive scan of a block by Hillis and Steele, with two buffers; the blocks' sums are scanned in the same way.
#include <cstdio>
#include <vector>

const int BLOCK = 256;

__global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
  __shared__ int buffers[2][BLOCK];
  int current = 0;
  const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  buffers[current][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < BLOCK; offset *= 2) {
    const int next = 1 - current;
    buffers[next][t] = buffers[current][t] + (t >= offset ? buffers[current][t - offset] : 0);
    current = next;
    __syncthreads();
  }
  if (i < n) out[i] = buffers[current][t];
  if (sums != NULL && t == BLOCK - 1) sums[blockIdx.x] = buffers[current][t];
}

__global__ void add_sums(int* out, const int* scanned_sums, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] += scanned_sums[blockIdx.x - 1];
}

int main() {
  const int n = 50000, blocks = (n + BLOCK - 1) / BLOCK;  // at most BLOCK, so one block scans the sums
  std::vector<int> values(n), result(n);
  for (int i = 0; i < n; ++i) values[i] = i % 10 - 3;
  int *d_in, *d_out, *d_sums, *d_scanned;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMalloc(&d_sums, blocks * sizeof(int));
  cudaMalloc(&d_scanned, blocks * sizeof(int));
  cudaMemcpy(d_in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  scan_blocks<<<blocks, BLOCK>>>(d_in, d_out, d_sums, n);
  scan_blocks<<<1, BLOCK>>>(d_sums, d_scanned, NULL, blocks);
  add_sums<<<blocks, BLOCK>>>(d_out, d_scanned, n);
  cudaMemcpy(result.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  int sum = 0, wrong = 0;
  for (int i = 0; i < n; ++i) {
    sum += values[i];
    wrong += result[i] != sum;
  }
  std::printf("last %d, wrong %d\n", result[n - 1], wrong);
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_sums);
  cudaFree(d_scanned);
  return wrong != 0;
}

// Radix sort, one bit per pass: a stable split by a scan of the zeros.
#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

const int BLOCK = 256;

__global__ void count_zeros(const unsigned* keys, int* zeros_of_block, int n, int bit) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const int zeros = __syncthreads_count(i < n && !(keys[i] >> bit & 1));
  if (threadIdx.x == 0) zeros_of_block[blockIdx.x] = zeros;
}

__global__ void scan_on_one_thread(int* zeros_of_block, int blocks) {  // the last element gets the sum
  int sum = 0;
  for (int b = 0; b <= blocks; ++b) {
    const int zeros = b < blocks ? zeros_of_block[b] : 0;
    zeros_of_block[b] = sum;
    sum += zeros;
  }
}

__global__ void scatter(const unsigned* in, unsigned* out, const int* zeros_before, int n, int bit) {
  __shared__ int of_warp[BLOCK / 32];
  const int i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool zero = i < n && !(in[i] >> bit & 1);
  const unsigned votes = __ballot_sync(0xffffffffu, zero);
  if (lane == 0) of_warp[warp] = __popc(votes);
  __syncthreads();
  if (i >= n) return;
  int before = zeros_before[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w) before += of_warp[w];
  out[zero ? before : zeros_before[gridDim.x] + i - before] = in[i];
}

int main() {
  const int n = 5000, blocks = (n + BLOCK - 1) / BLOCK;
  std::vector<unsigned> keys(n), sorted(n);
  for (int i = 0; i < n; ++i) keys[i] = (i * 2654435761u) >> 16;
  unsigned *from, *to;
  int* d_zeros;
  cudaMalloc(&from, n * sizeof(unsigned));
  cudaMalloc(&to, n * sizeof(unsigned));
  cudaMalloc(&d_zeros, (blocks + 1) * sizeof(int));
  cudaMemcpy(from, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  for (int bit = 0; bit < 16; ++bit) {
    count_zeros<<<blocks, BLOCK>>>(from, d_zeros, n, bit);
    scan_on_one_thread<<<1, 1>>>(d_zeros, blocks);
    scatter<<<blocks, BLOCK>>>(from, to, d_zeros, n, bit);
    std::swap(from, to);
  }
  cudaMemcpy(sorted.data(), from, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  cudaFree(from);
  cudaFree(to);
  cudaFree(d_zeros);
  std::sort(keys.begin(), keys.end());
  std::printf("%s: %u ... %u\n", sorted == keys ? "sorted" : "wrong", sorted.front(), sorted.back());
  return sorted != keys;
}

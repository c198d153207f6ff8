// Prefix sums of 2^22 numbers: of each block by doubling steps, then of the blocks' sums, which are added at the end.
#include <cstdio>
#include <vector>

constexpr int THREADS = 512;

__global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
  __shared__ int part[2][THREADS];
  const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
  part[0][t] = i < n ? in[i] : 0;
  int from = 0;
  for (int step = 1; step < THREADS; step *= 2, from = 1 - from) {
    __syncthreads();
    part[1 - from][t] = part[from][t] + (t >= step ? part[from][t - step] : 0);
  }
  if (i < n) out[i] = part[from][t];
  if (t == THREADS - 1) sums[blockIdx.x] = part[from][t];
}

__global__ void add_sums(int* out, const int* sums, int n) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n && blockIdx.x > 0) out[i] += sums[blockIdx.x - 1];
}

static void scan(const int* in, int* out, int n) {
  const int blocks = (n + THREADS - 1) / THREADS;
  int *sums, *scanned;
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMalloc(&scanned, blocks * sizeof(int));
  scan_blocks<<<blocks, THREADS>>>(in, out, sums, n);
  if (blocks > 1) {
    scan(sums, scanned, blocks);
    add_sums<<<blocks, THREADS>>>(out, scanned, n);
  }
  cudaFree(sums);
  cudaFree(scanned);
}

int main() {
  const int n = 1 << 22;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i % 7;
  int *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  scan(d_in, d_out, n);
  cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0, sum = 0;
  for (int i = 0; i < n; ++i) wrong += out[i] != (sum += in[i]);
  std::printf("wrong %d\n", wrong);
  cudaFree(d_in);
  cudaFree(d_out);
  return wrong != 0;
}

// The sum of 2^24 numbers: a tree in shared memory, then one atomic addition for each block.
#include <cstdio>
#include <vector>

constexpr int THREADS = 256;

__global__ void sum_up(const int* in, int n, unsigned long long* sum) {
  __shared__ int part[THREADS];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

int main() {
  const int n = 1 << 24;
  std::vector<int> in(n);
  unsigned long long expected = 0, found = 0, *sum;
  for (int i = 0; i < n; ++i) expected += in[i] = i % 17;
  int* d_in;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&sum, sizeof(*sum));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, sizeof(*sum));
  sum_up<<<n / THREADS, THREADS>>>(d_in, n, sum);
  cudaMemcpy(&found, sum, sizeof(*sum), cudaMemcpyDeviceToHost);
  std::printf("sum %llu, expected %llu\n", found, expected);
  cudaFree(d_in);
  cudaFree(sum);
  return found != expected;
}

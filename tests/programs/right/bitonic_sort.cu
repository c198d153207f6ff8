// Bitonic sort: steps within a block run in shared memory, each other step is one launch.
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int THREADS = 256, SECTION = 2 * THREADS;  // a block sorts a section

__device__ void order(int& a, int& b, bool up) {
  if ((a > b) == up) {
    const int c = a;
    a = b;
    b = c;
  }
}

__global__ void in_shared(int* data, int size, int first_stride) {  // size 0: sort from the start
  __shared__ int part[SECTION];
  const int t = threadIdx.x, base = blockIdx.x * SECTION;
  part[t] = data[base + t];
  part[t + THREADS] = data[base + t + THREADS];
  for (int s = size ? size : 2; s <= (size ? size : SECTION); s *= 2)
    for (int stride = size ? first_stride : s / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int at = 2 * t - (t & (stride - 1));
      order(part[at], part[at + stride], ((base + at) & s) == 0);
    }
  __syncthreads();
  data[base + t] = part[t];
  data[base + t + THREADS] = part[t + THREADS];
}

__global__ void in_global(int* data, int size, int stride) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = 2 * t - (t & (stride - 1));
  order(data[at], data[at + stride], (at & size) == 0);
}

int main() {
  const int n = 1 << 13;
  std::vector<int> values(n), sorted(n);
  for (int i = 0; i < n; ++i) values[i] = (i * 7919 + 13) % 10007;
  int* d_data;
  cudaMalloc(&d_data, n * sizeof(int));
  cudaMemcpy(d_data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  const int blocks = n / SECTION;
  in_shared<<<blocks, THREADS>>>(d_data, 0, 0);
  for (int size = 2 * SECTION; size <= n; size *= 2) {
    for (int stride = size / 2; stride >= SECTION; stride /= 2) in_global<<<blocks, THREADS>>>(d_data, size, stride);
    in_shared<<<blocks, THREADS>>>(d_data, size, THREADS);
  }
  cudaMemcpy(sorted.data(), d_data, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_data);
  std::sort(values.begin(), values.end());
  std::printf("%s: %d ... %d ... %d\n", sorted == values ? "sorted" : "wrong", sorted[0], sorted[n / 2], sorted[n - 1]);
  return sorted != values;
}

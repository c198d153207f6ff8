// A 5-point stencil on 4096 x 4096 points, 10 times.
#include <cstdio>
#include <utility>
#include <vector>

__global__ void stencil(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

int main() {
  const int n = 4096, steps = 10;
  const size_t bytes = sizeof(float) * n * n;
  std::vector<float> grid(n * n);
  for (int i = 0; i < n * n; ++i) grid[i] = i % n;  // a plane: the mean of its neighbours
  float *a, *b;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMemcpy(a, grid.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice);
  for (int step = 0; step < steps; ++step) {
    stencil<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, n);
    std::swap(a, b);
  }
  cudaMemcpy(grid.data(), a, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n * n; ++i) wrong += grid[i] < i % n - 0.1f || grid[i] > i % n + 0.1f;
  std::printf("wrong %d\n", wrong);
  cudaFree(a);
  cudaFree(b);
  return wrong != 0;
}

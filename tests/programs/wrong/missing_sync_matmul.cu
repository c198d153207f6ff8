// A tiled matrix product: a fast warp stores the next tile while a slow warp still reads this one.
#include <cstdio>
#include <vector>

#define TILE 16

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int m = 0; m < n / TILE; ++m) {
    as[ty][tx] = a[row * n + m * TILE + tx];
    bs[ty][tx] = b[(m * TILE + ty) * n + col];  // also here
    __syncthreads();
    for (int k = 0; k < TILE; ++k) {
      const float x = as[ty][k];
      sum += x * bs[k][tx];  // defect: data race in shared memory
    }
  }
  c[row * n + col] = sum;
}

int main() {
  const int n = 64;
  const size_t bytes = n * n * sizeof(float);
  std::vector<float> a(n * n, 1.0f), b(n * n, 2.0f), c(n * n);
  float *d_a, *d_b, *d_c;
  cudaMalloc(&d_a, bytes);
  cudaMalloc(&d_b, bytes);
  cudaMalloc(&d_c, bytes);
  cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice);
  multiply<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(d_a, d_b, d_c, n);
  cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost);
  std::printf("%g\n", c[0]);
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_c);
}

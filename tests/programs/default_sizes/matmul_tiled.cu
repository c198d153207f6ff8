// C = A B, 1024 x 1024, by way of tiles in shared memory.
#include <cstdio>
#include <vector>

constexpr int TILE = 16;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < n; first += TILE) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

int main() {
  const int n = 1024;
  const size_t bytes = sizeof(float) * n * n;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = i / n % 3, b[i] = i % n % 5;
  float *d_a, *d_b, *d_c;
  for (float** p : {&d_a, &d_b, &d_c}) cudaMalloc(p, bytes);
  cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice);
  multiply<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(d_a, d_b, d_c, n);
  cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n * n; ++i) wrong += c[i] != float(n * (i / n % 3) * (i % n % 5));
  std::printf("wrong %d\n", wrong);
  for (float* p : {d_a, d_b, d_c}) cudaFree(p);
  return wrong != 0;
}

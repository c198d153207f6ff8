// C = A B with tiles in dynamic shared memory, whose size is chosen at run time.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void multiply(const int* a, const int* b, int* c, int n, int tile) {
  extern __shared__ int tiles[];
  int* a_tile = tiles;
  int* b_tile = tiles + tile * tile;
  const int row = blockIdx.y * tile + threadIdx.y, col = blockIdx.x * tile + threadIdx.x;
  const int here = threadIdx.y * tile + threadIdx.x;
  int sum = 0;
  for (int k0 = 0; k0 < n; k0 += tile) {
    const int a_col = k0 + threadIdx.x, b_row = k0 + threadIdx.y;
    a_tile[here] = row < n && a_col < n ? a[row * n + a_col] : 0;
    b_tile[here] = b_row < n && col < n ? b[b_row * n + col] : 0;
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += a_tile[threadIdx.y * tile + k] * b_tile[k * tile + threadIdx.x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100;
  std::vector<int> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = i % 11, b[i] = i % 13 - 6;
  const size_t bytes = a.size() * sizeof(int);
  int *d_a, *d_b, *d_c;
  cudaMalloc((void**)&d_a, bytes);
  cudaMalloc((void**)&d_b, bytes);
  cudaMalloc((void**)&d_c, bytes);
  cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice);
  for (int tile = 8; tile <= 32; tile *= 2) {
    cudaMemset(d_c, 0xff, bytes);
    dim3 block(tile, tile), grid((n + tile - 1) / tile, (n + tile - 1) / tile);
    multiply<<<grid, block, 2 * tile * tile * sizeof(int)>>>(d_a, d_b, d_c, n, tile);
    cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        int sum = 0;
        for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
        wrong += sum != c[i * n + j];
      }
    std::printf("tile %2d: c[n-1][n-1] = %d, wrong %d\n", tile, c[n * n - 1], wrong);
  }
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_c);
  return cudaGetLastError() != cudaSuccess;
}

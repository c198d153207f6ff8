// A transpose by way of shared memory: no barrier between the two halves.
#include <cstdio>
#include <vector>

const int TILE = 32;

__global__ void transpose(const int* in, int* out, int n) {
  __shared__ int tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];  // also here
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) {
    const int value = tile[threadIdx.x][threadIdx.y + j];  // defect: data race in shared memory
    out[(y + j) * n + x] = value;
  }
}

int main() {
  const int n = 128;
  std::vector<int> matrix(n * n);
  for (int i = 0; i < n * n; ++i) matrix[i] = i;
  int *d_in, *d_out;
  cudaMalloc(&d_in, n * n * sizeof(int));
  cudaMalloc(&d_out, n * n * sizeof(int));
  cudaMemcpy(d_in, matrix.data(), n * n * sizeof(int), cudaMemcpyHostToDevice);
  transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, 8)>>>(d_in, d_out, n);
  cudaMemcpy(matrix.data(), d_out, n * n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", matrix[1]);
  cudaFree(d_in);
  cudaFree(d_out);
}

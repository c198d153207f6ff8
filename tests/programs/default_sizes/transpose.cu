// The transpose of a 4096 x 4096 matrix, by tiles of 32 x 32 in shared memory.
#include <cstdio>
#include <vector>

constexpr int TILE = 32, ROWS = 8;

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int row = 0; row < TILE; row += ROWS) tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * n + x];
  __syncthreads();
  const int to_x = blockIdx.y * TILE + threadIdx.x, to_y = blockIdx.x * TILE + threadIdx.y;
  for (int row = 0; row < TILE; row += ROWS) out[(to_y + row) * n + to_x] = tile[threadIdx.x][threadIdx.y + row];
}

int main() {
  const int n = 4096;
  const size_t bytes = sizeof(float) * n * n;
  std::vector<float> in(n * n), out(n * n);
  for (int i = 0; i < n * n; ++i) in[i] = i;
  float *d_in, *d_out;
  cudaMalloc(&d_in, bytes);
  cudaMalloc(&d_out, bytes);
  cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice);
  transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, ROWS)>>>(d_in, d_out, n);
  cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n * n; ++i) wrong += out[i] != in[i % n * n + i / n];
  std::printf("wrong %d\n", wrong);
  cudaFree(d_in);
  cudaFree(d_out);
  return wrong != 0;
}

// A matrix transposed by way of shared memory. The padding column keeps the columns of a tile in different banks.
#include <cstdio>
#include <vector>

constexpr int TILE = 32, ROWS = 8;  // a block of 32 x 8 threads moves a tile of 32 x 32

template <int PAD>
__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[TILE][TILE + PAD];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
  const int width = 500, height = 333;
  std::vector<float> a(width * height), b(width * height);
  for (int i = 0; i < width * height; ++i) a[i] = static_cast<float>(i);
  float *d_a, *d_b;
  cudaMalloc(&d_a, a.size() * sizeof(float));
  cudaMalloc(&d_b, b.size() * sizeof(float));
  cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  const dim3 block(TILE, ROWS), grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
  for (int pad = 0; pad < 2; ++pad) {
    cudaMemset(d_b, 0, b.size() * sizeof(float));
    if (pad)
      transpose<1><<<grid, block>>>(d_a, d_b, width, height);
    else
      transpose<0><<<grid, block>>>(d_a, d_b, width, height);
    cudaMemcpy(b.data(), d_b, b.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) wrong += a[y * width + x] != b[x * height + y];
    std::printf("padding %d: %d wrong\n", pad, wrong);
  }
  cudaFree(d_a);
  cudaFree(d_b);
  return cudaGetLastError() != cudaSuccess;
}

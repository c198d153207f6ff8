// The transpose of an image by tiles. Two mistakes: no barrier, and the wrong length of a row where the result is stored.
#include <cstdio>
#include <vector>

constexpr int TILE = 32;

__global__ void transpose(float* out, const float* in, int width, int height) {
  __shared__ float tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
  if (x < height && y < width) out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int width = 200, height = 100;
  const size_t bytes = width * height * sizeof(float);
  std::vector<float> image(width * height), result(width * height);
  for (int i = 0; i < width * height; ++i) image[i] = i;
  float *in, *out;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpy(in, image.data(), bytes, cudaMemcpyHostToDevice);
  const dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), block(TILE, TILE);
  transpose<<<grid, block>>>(out, in, width, height);
  cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) wrong += result[x * height + y] != image[y * width + x];
  std::printf("%d of %d elements are wrong\n", wrong, width * height);
  cudaFree(in);
  cudaFree(out);
  return cudaGetLastError() != cudaSuccess;
}

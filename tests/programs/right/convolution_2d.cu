// A 2-D convolution with the mask in constant memory; pixels outside of the image are zero.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define MASK_WIDTH 5
#define TILE 16
#define WITH_HALO (TILE + MASK_WIDTH - 1)

__constant__ float mask[MASK_WIDTH][MASK_WIDTH];

__global__ void convolve(const float* image, float* result, int width, int height) {
  __shared__ float tile[WITH_HALO][WITH_HALO];
  const int first_x = blockIdx.x * TILE - MASK_WIDTH / 2, first_y = blockIdx.y * TILE - MASK_WIDTH / 2;
  for (int y = threadIdx.y; y < WITH_HALO; y += TILE)
    for (int x = threadIdx.x; x < WITH_HALO; x += TILE) {
      const int gx = first_x + x, gy = first_y + y;
      tile[y][x] = gx >= 0 && gx < width && gy >= 0 && gy < height ? image[gy * width + gx] : 0.0f;
    }
  __syncthreads();
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < MASK_WIDTH; ++i)
#pragma unroll
    for (int j = 0; j < MASK_WIDTH; ++j) sum += mask[i][j] * tile[threadIdx.y + i][threadIdx.x + j];
  result[y * width + x] = sum;
}

int main(void) {
  const int width = 150, height = 100;
  const size_t bytes = width * height * sizeof(float);
  float h_mask[MASK_WIDTH][MASK_WIDTH];
  float* image = (float*)malloc(bytes);
  float* result = (float*)malloc(bytes);
  for (int i = 0; i < width * height; ++i) image[i] = (float)(i % 9);
  for (int i = 0; i < MASK_WIDTH * MASK_WIDTH; ++i) h_mask[i / MASK_WIDTH][i % MASK_WIDTH] = (float)(i % 4);

  float *d_image, *d_result;
  cudaMalloc((void**)&d_image, bytes);
  cudaMalloc((void**)&d_result, bytes);
  cudaMemcpy(d_image, image, bytes, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(mask, h_mask, sizeof(h_mask));
  dim3 block(TILE, TILE, 1), grid((width - 1) / TILE + 1, (height - 1) / TILE + 1, 1);
  convolve<<<grid, block>>>(d_image, d_result, width, height);
  cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost);

  int wrong = 0;
  double checksum = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int i = 0; i < MASK_WIDTH; ++i)
        for (int j = 0; j < MASK_WIDTH; ++j) {
          const int gy = y + i - MASK_WIDTH / 2, gx = x + j - MASK_WIDTH / 2;
          if (gx >= 0 && gx < width && gy >= 0 && gy < height) sum += h_mask[i][j] * image[gy * width + gx];
        }
      wrong += sum != result[y * width + x];
      checksum += result[y * width + x];
    }
  printf("checksum %.0f, wrong %d\n", checksum, wrong);
  cudaFree(d_image);
  cudaFree(d_result);
  free(image);
  free(result);
  return wrong != 0;
}

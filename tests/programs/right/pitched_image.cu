// An image with padded rows: cudaMallocPitch, and 2-D copies of the whole image and of a part.
#include <cstdio>
#include <vector>

__global__ void invert(unsigned char* image, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    unsigned char* const row = image + y * pitch;
    row[x] = 255 - row[x];
  }
}

int main() {
  const int width = 101, height = 67, left = 10, top = 20, part_width = 30, part_height = 15;
  std::vector<unsigned char> image(width * height), result(width * height), part(part_width * part_height);
  for (int i = 0; i < width * height; ++i) image[i] = static_cast<unsigned char>(i * 5);
  unsigned char* device;
  size_t pitch;
  if (cudaMallocPitch(&device, &pitch, width, height) != cudaSuccess) return 1;
  cudaMemset2D(device, pitch, 0, width, height);
  cudaMemcpy2D(device, pitch, image.data(), width, width, height, cudaMemcpyHostToDevice);
  const dim3 block(32, 4), grid((width + 31) / 32, (height + 3) / 4);
  invert<<<grid, block>>>(device, pitch, width, height);
  cudaMemcpy2D(result.data(), width, device, pitch, width, height, cudaMemcpyDeviceToHost);
  cudaMemcpy2D(part.data(), part_width, device + top * pitch + left, pitch, part_width, part_height,
               cudaMemcpyDeviceToHost);
  int wrong = pitch < width;
  for (int i = 0; i < width * height; ++i) wrong += result[i] != 255 - image[i];
  for (int y = 0; y < part_height; ++y)
    for (int x = 0; x < part_width; ++x) wrong += part[y * part_width + x] != result[(top + y) * width + left + x];
  unsigned checksum = 0;
  for (unsigned char value : result) checksum = checksum * 31 + value;
  std::printf("checksum %u, wrong %d\n", checksum, wrong);
  cudaFree(device);
  return wrong != 0;
}

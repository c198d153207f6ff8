// The Mandelbrot set as letters. Fixed-point arithmetic: the same picture on any machine.
#include <cstdio>
#include <string>

__global__ void mandelbrot(char* picture, int width, int height, int steps) {
  const int col = blockDim.x * blockIdx.x + threadIdx.x;
  const int row = blockDim.y * blockIdx.y + threadIdx.y;
  if (col >= width || row >= height) return;
  const int one = 1 << 12;
  const int c_re = (3 * one * col) / width - 2 * one, c_im = (2 * one * row) / height - one;
  int re = 0, im = 0, step = 0;
  while (step < steps && re * re + im * im < 4 * one * one) {
    const int next = (re * re - im * im) / one + c_re;
    im = 2 * re * im / one + c_im;
    re = next;
    ++step;
  }
  picture[row * width + col] = step == steps ? '#' : step > 6 ? '+' : step > 3 ? '.' : ' ';
}

int main() {
  const int width = 72, height = 24, steps = 100;
  std::string picture(width * height, '?');
  char* d_picture = nullptr;
  cudaMalloc(&d_picture, picture.size());
  const dim3 block{16, 16, 1};
  const dim3 grid{(width + block.x - 1) / block.x, (height + block.y - 1) / block.y, 1};
  mandelbrot<<<grid, block>>>(d_picture, width, height, steps);
  cudaMemcpy(&picture[0], d_picture, picture.size(), cudaMemcpyDeviceToHost);
  cudaFree(d_picture);
  for (int row = 0; row < height; ++row) std::printf("%s|\n", picture.substr(row * width, width).c_str());
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

// Conway's game of life on a torus: a glider returns after 4 n generations.
#include <cstdio>
#include <utility>
#include <vector>

__global__ void generation(const unsigned char* now, unsigned char* next, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0) neighbours += now[(y + dy + n) % n * n + (x + dx + n) % n];
  next[y * n + x] = neighbours == 3 || (neighbours == 2 && now[y * n + x]);
}

int main() {
  const int n = 24;
  std::vector<unsigned char> cells(n * n, 0), start;
  const int glider[][2] = {{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}};
  for (auto& cell : glider) cells[cell[1] * n + cell[0]] = 1;
  start = cells;
  unsigned char *now, *next;
  cudaMalloc(&now, n * n);
  cudaMalloc(&next, n * n);
  cudaMemcpy(now, cells.data(), n * n, cudaMemcpyHostToDevice);
  dim3 block(8, 8);
  dim3 grid(n / block.x, n / block.y);
  for (int step = 1; step <= 4 * n; ++step) {
    generation<<<grid, block>>>(now, next, n);
    std::swap(now, next);
    if (step % n == 0) {
      cudaMemcpy(cells.data(), now, n * n, cudaMemcpyDeviceToHost);
      int alive = 0;
      for (unsigned char cell : cells) alive += cell;
      std::printf("generation %d: %d alive, %s\n", step, alive, cells == start ? "as at the start" : "elsewhere");
    }
  }
  cudaFree(now);
  cudaFree(next);
  return cells != start;
}

// Heat in a cube: a thread walks along z and keeps three cells in registers, its neighbours are in shared memory.
#include <cstdio>
#include <utility>
#include <vector>

constexpr int N = 40, SIDE = 8;
constexpr int CELLS = N * N * N;

__device__ __forceinline__ int at(int x, int y, int z) {
  return (z * N + y) * N + x;
}

__global__ void step(const int* now, int* next) {
  __shared__ int plane[SIDE + 2][SIDE + 2];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  const bool inside = x > 0 && x < N - 1 && y > 0 && y < N - 1;
  int below = now[at(x, y, 0)], here = now[at(x, y, 1)];
  next[at(x, y, 0)] = below;
  for (int z = 1; z < N - 1; ++z) {
    const int above = now[at(x, y, z + 1)];
    __syncthreads();
    plane[ty][tx] = here;
    if (threadIdx.x == 0 && x > 0) plane[ty][0] = now[at(x - 1, y, z)];
    if (threadIdx.x == SIDE - 1 && x < N - 1) plane[ty][SIDE + 1] = now[at(x + 1, y, z)];
    if (threadIdx.y == 0 && y > 0) plane[0][tx] = now[at(x, y - 1, z)];
    if (threadIdx.y == SIDE - 1 && y < N - 1) plane[SIDE + 1][tx] = now[at(x, y + 1, z)];
    __syncthreads();
    int value = here;
    if (inside)
      value =
          (2 * here + plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above) /
          8;
    next[at(x, y, z)] = value;
    below = here;
    here = above;
  }
  next[at(x, y, N - 1)] = here;
}

int main() {
  std::vector<int> cells(CELLS, 0), result(CELLS), other(CELLS);
  for (int z = 0; z < N; ++z)
    for (int y = 0; y < N; ++y) cells[(z * N + y) * N] = 1 << 20;  // one face is hot
  int *now, *next;
  cudaMalloc(&now, CELLS * sizeof(int));
  cudaMalloc(&next, CELLS * sizeof(int));
  cudaMemcpy(now, cells.data(), CELLS * sizeof(int), cudaMemcpyHostToDevice);
  for (int t = 0; t < 5; ++t) {
    step<<<dim3(N / SIDE, N / SIDE), dim3(SIDE, SIDE)>>>(now, next);
    std::swap(now, next);
    other = cells;
    for (int z = 1; z < N - 1; ++z)
      for (int y = 1; y < N - 1; ++y)
        for (int x = 1; x < N - 1; ++x) {
          const int i = (z * N + y) * N + x;
          other[i] = (2 * cells[i] + cells[i - 1] + cells[i + 1] + cells[i - N] + cells[i + N] + cells[i - N * N] +
                      cells[i + N * N]) /
                     8;
        }
    std::swap(cells, other);
  }
  cudaMemcpy(result.data(), now, CELLS * sizeof(int), cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int cell : result) sum += cell;
  std::printf("sum %ld, %s\n", sum, result == cells ? "right" : "wrong");
  cudaFree(now);
  cudaFree(next);
  return result != cells;
}

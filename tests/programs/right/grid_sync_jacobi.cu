// Heat along a rod, all steps in one cooperative launch: grid.sync() separates them.
#include <cooperative_groups.h>

#include <cstdio>
#include <utility>
#include <vector>

namespace cg = cooperative_groups;

__global__ void relax(int* now, int* next, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int step = 0; step < steps; ++step) {
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) {
      const bool inside = i > 0 && i < n - 1;
      next[i] = inside ? (now[i - 1] + 2 * now[i] + now[i + 1]) / 4 : now[i];
    }
    grid.sync();
    int* const swap = now;
    now = next;
    next = swap;
  }
}

int main() {
  int n = 1000, steps = 50, device = 0, supported = 0, per_sm = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, relax, 128, 0);
  const int blocks = per_sm * sms < 6 ? per_sm * sms : 6;
  std::vector<int> rod(n, 0), result(n);
  rod[0] = 1 << 20;
  rod[n / 2] = 1 << 24;
  int *d_now, *d_next;
  cudaMalloc(&d_now, n * sizeof(int));
  cudaMalloc(&d_next, n * sizeof(int));
  cudaMemcpy(d_now, rod.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  void* arguments[] = {&d_now, &d_next, &n, &steps};
  if (!supported ||
      cudaLaunchCooperativeKernel((void*)relax, dim3(blocks), dim3(128), arguments, 0, 0) != cudaSuccess) {
    std::printf("no cooperative launch\n");
    return 1;
  }
  cudaMemcpy(result.data(), d_now, n * sizeof(int), cudaMemcpyDeviceToHost);  // an even number of steps
  for (int step = 0; step < steps; ++step) {
    std::vector<int> next = rod;
    for (int i = 1; i < n - 1; ++i) next[i] = (rod[i - 1] + 2 * rod[i] + rod[i + 1]) / 4;
    rod = std::move(next);
  }
  std::printf("middle %d, %s\n", result[n / 2], result == rod ? "right" : "wrong");
  cudaFree(d_now);
  cudaFree(d_next);
  return result != rod;
}

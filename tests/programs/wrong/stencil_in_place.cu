// A smoothing step that writes into the array that its neighbours still read.
#include <cstdio>
#include <vector>

__global__ void smooth(int* cells, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  const int sum = cells[i - 1] + 2 * cells[i] + cells[i + 1];  // also here
  cells[i] = sum / 4;                                          // defect: data race in global memory
}

int main() {
  const int n = 3000;
  std::vector<int> cells(n, 0);
  cells[n / 2] = 1 << 20;
  int* device;
  cudaMalloc(&device, n * sizeof(int));
  cudaMemcpy(device, cells.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (int step = 0; step < 10; ++step) smooth<<<(n + 255) / 256, 256>>>(device, n);
  cudaMemcpy(cells.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", cells[n / 2]);
  cudaFree(device);
}

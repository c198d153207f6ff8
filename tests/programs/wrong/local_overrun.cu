// A thread's own array has room for eight neighbours; some have nine.
#include <cstdio>

__global__ void median_of_neighbours(const int* offsets, const int* values, int n, int* medians) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sorted[8];
  const int count = offsets[i + 1] - offsets[i];
  for (int j = 0; j < count; ++j) {
    const int value = values[offsets[i] + j];
    int at = j;
    while (at > 0 && sorted[at - 1] > value) {
      sorted[at] = sorted[at - 1];
      --at;
    }
    sorted[at] = value;  // defect: out of bounds
  }
  medians[i] = sorted[count / 2];
}

int main() {
  const int n = 100;
  int offsets[n + 1] = {0}, values[9 * n], medians[n], *d_offsets, *d_values, *d_medians;
  for (int i = 0; i < n; ++i) offsets[i + 1] = offsets[i] + 1 + i % 9;
  for (int j = 0; j < 9 * n; ++j) values[j] = j;
  cudaMalloc(&d_offsets, sizeof(offsets));
  cudaMalloc(&d_values, sizeof(values));
  cudaMalloc(&d_medians, sizeof(medians));
  cudaMemcpy(d_offsets, offsets, sizeof(offsets), cudaMemcpyHostToDevice);
  cudaMemcpy(d_values, values, sizeof(values), cudaMemcpyHostToDevice);
  median_of_neighbours<<<1, 128>>>(d_offsets, d_values, n, d_medians);
  cudaMemcpy(medians, d_medians, sizeof(medians), cudaMemcpyDeviceToHost);
  std::printf("%d\n", medians[0]);
  cudaFree(d_offsets);
  cudaFree(d_values);
  cudaFree(d_medians);
}

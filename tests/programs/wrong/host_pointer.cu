// One of the kernel's pointers is the host's.
#include <cstdio>
#include <vector>

__global__ void gather(const float* table, const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int at = index[i];  // defect: not device memory
  out[i] = table[at];
}

int main() {
  const int n = 1000;
  std::vector<float> table(n), out(n);
  std::vector<int> index(n);
  for (int i = 0; i < n; ++i) table[i] = i * 0.5f, index[i] = n - 1 - i;
  float *d_table, *d_out;
  cudaMalloc(&d_table, n * sizeof(float));
  cudaMalloc(&d_out, n * sizeof(float));
  cudaMemcpy(d_table, table.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  gather<<<(n + 127) / 128, 128>>>(d_table, index.data(), d_out, n);
  cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", out[0]);
  cudaFree(d_table);
  cudaFree(d_out);
}

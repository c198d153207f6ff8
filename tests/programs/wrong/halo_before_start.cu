// A stencil reads the element before the first one.
#include <cstdio>
#include <vector>

__global__ void difference(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] - in[i - 1];  // defect: out of bounds
}

int main() {
  const int n = 5000;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i * i % 100;
  int *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMemcpy(d_in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  difference<<<(n + 127) / 128, 128>>>(d_in, d_out, n);
  cudaMemcpy(values.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", values[1]);
  cudaFree(d_in);
  cudaFree(d_out);
}

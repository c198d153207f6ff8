// A matrix is transposed in place, element by element: two threads read and write the same two elements.
#include <cstdio>
#include <vector>

__global__ void transpose(float* matrix, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float value = matrix[y * n + x];  // also here
  matrix[x * n + y] = value;              // defect: data race in global memory
}

int main() {
  const int n = 100;
  std::vector<float> matrix(n * n);
  for (int i = 0; i < n * n; ++i) matrix[i] = static_cast<float>(i);
  float* device;
  cudaMalloc(&device, n * n * sizeof(float));
  cudaMemcpy(device, matrix.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
  transpose<<<dim3(7, 7), dim3(16, 16)>>>(device, n);
  cudaMemcpy(matrix.data(), device, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", matrix[1]);
  cudaFree(device);
}

// Rows and columns of a matrix that isn't square are mixed up in one index.
#include <cstdio>
#include <vector>

__global__ void scale_rows(float* matrix, const float* factors, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) matrix[col * cols + row] *= factors[row];  // defect: out of bounds
}

int main() {
  const int rows = 40, cols = 100;
  std::vector<float> matrix(rows * cols, 1.0f), factors(rows, 2.0f);
  float *d_matrix, *d_factors;
  cudaMalloc(&d_matrix, matrix.size() * sizeof(float));
  cudaMalloc(&d_factors, factors.size() * sizeof(float));
  cudaMemcpy(d_matrix, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_factors, factors.data(), factors.size() * sizeof(float), cudaMemcpyHostToDevice);
  const dim3 block(16, 16), grid((cols + 15) / 16, (rows + 15) / 16);
  scale_rows<<<grid, block>>>(d_matrix, d_factors, rows, cols);
  cudaMemcpy(matrix.data(), d_matrix, matrix.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", matrix[0]);
  cudaFree(d_matrix);
  cudaFree(d_factors);
}

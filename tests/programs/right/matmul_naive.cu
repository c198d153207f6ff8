// C = A B, one thread per element of C, row-major matrices in a struct.
#include <cstdio>
#include <vector>

struct Matrix {
  int width, height;
  float* elements;
};

__global__ void multiply(Matrix a, Matrix b, Matrix c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= c.height || col >= c.width) return;
  float sum = 0;
  for (int k = 0; k < a.width; ++k) sum += a.elements[row * a.width + k] * b.elements[k * b.width + col];
  c.elements[row * c.width + col] = sum;
}

Matrix on_device(int height, int width, const std::vector<float>& values) {
  Matrix m{width, height, nullptr};
  const size_t bytes = values.size() * sizeof(float);
  cudaMalloc(&m.elements, bytes);
  cudaMemcpy(m.elements, values.data(), bytes, cudaMemcpyHostToDevice);
  return m;
}

int main() {
  const int m = 70, n = 90, k = 110;
  std::vector<float> a(m * k), b(k * n), c(m * n, -1.0f);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>(i % 7 - 3);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>(i % 5 - 2);
  Matrix d_a = on_device(m, k, a), d_b = on_device(k, n, b), d_c = on_device(m, n, c);

  const dim3 block(16, 16);
  const dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  multiply<<<grid, block>>>(d_a, d_b, d_c);
  cudaMemcpy(c.data(), d_c.elements, c.size() * sizeof(float), cudaMemcpyDeviceToHost);

  int wrong = 0;
  double checksum = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      wrong += sum != c[i * n + j];
      checksum += c[i * n + j] * (1 + (i + j) % 3);
    }
  std::printf("wrong %d, checksum %.0f\n", wrong, checksum);
  for (Matrix matrix : {d_a, d_b, d_c}) cudaFree(matrix.elements);
  return wrong != 0;
}

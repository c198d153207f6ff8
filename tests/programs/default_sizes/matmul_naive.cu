// C = A B, 1024 x 1024, a thread for each element.
#include <cstdio>
#include <vector>

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

int main() {
  const int n = 1024;
  const size_t bytes = sizeof(float) * n * n;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = i / n % 3, b[i] = i % n % 5;
  float *d_a, *d_b, *d_c;
  for (float** p : {&d_a, &d_b, &d_c}) cudaMalloc(p, bytes);
  cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice);
  multiply<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(d_a, d_b, d_c, n);
  cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n * n; ++i) wrong += c[i] != float(n * (i / n % 3) * (i % n % 5));
  std::printf("wrong %d\n", wrong);
  for (float* p : {d_a, d_b, d_c}) cudaFree(p);
  return wrong != 0;
}

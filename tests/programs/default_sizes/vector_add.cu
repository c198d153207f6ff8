// c = a + b, 2^26 elements: three vectors of 256 MB.
#include <cstdio>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1 << 26;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i % 1000, b[i] = 2 * (i % 1000);
  float *d_a, *d_b, *d_c;
  for (float** p : {&d_a, &d_b, &d_c}) cudaMalloc(p, n * sizeof(float));
  cudaMemcpy(d_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add<<<n / 256, 256>>>(d_a, d_b, d_c, n);
  cudaMemcpy(c.data(), d_c, n * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != 3.0f * (i % 1000);
  std::printf("wrong %d\n", wrong);
  for (float* p : {d_a, d_b, d_c}) cudaFree(p);
  return wrong != 0;
}

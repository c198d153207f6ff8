// A dot product: each block writes its part, and the host adds the parts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

const int N = 33 * 1024;
const int THREADS = 256;
const int BLOCKS = std::min(32, (N + THREADS - 1) / THREADS);

__global__ void dot(const float* a, const float* b, float* parts) {
  __shared__ float cache[256];
  float sum = 0;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < N; i += blockDim.x * gridDim.x) sum += a[i] * b[i];
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half != 0; half /= 2) {
    if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = cache[0];
}

int main() {
  float* a = (float*)std::malloc(N * sizeof(float));
  float* b = (float*)std::malloc(N * sizeof(float));
  float* parts = (float*)std::malloc(BLOCKS * sizeof(float));
  for (int i = 0; i < N; ++i) {
    a[i] = i % 16;
    b[i] = i % 8;
  }
  float *dev_a, *dev_b, *dev_parts;
  cudaMalloc((void**)&dev_a, N * sizeof(float));
  cudaMalloc((void**)&dev_b, N * sizeof(float));
  cudaMalloc((void**)&dev_parts, BLOCKS * sizeof(float));
  cudaMemcpy(dev_a, a, N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_b, b, N * sizeof(float), cudaMemcpyHostToDevice);
  dot<<<BLOCKS, THREADS>>>(dev_a, dev_b, dev_parts);
  cudaMemcpy(parts, dev_parts, BLOCKS * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0, expected = 0;
  for (int i = 0; i < BLOCKS; ++i) sum += parts[i];
  for (int i = 0; i < N; ++i) expected += a[i] * b[i];
  std::printf("dot product %.0f, expected %.0f\n", sum, expected);
  cudaFree(dev_a);
  cudaFree(dev_b);
  cudaFree(dev_parts);
  std::free(a);
  std::free(b);
  std::free(parts);
  return sum != expected;
}

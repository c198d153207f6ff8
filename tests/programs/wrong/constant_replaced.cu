// A polynomial's coefficients are constants. The next ones are copied while a kernel of another stream may still read.
#include <cstdio>

constexpr int DEGREE = 3;
__constant__ float coefficients[DEGREE + 1];

__global__ void evaluate(const float* x, int n, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = DEGREE; k >= 0; --k) sum = sum * x[i] + coefficients[k];  // also here
  y[i] = sum;
}

int main() {
  const int n = 2000;
  const float first[] = {1, 2, 3, 4}, next[] = {4, 3, 2, 1};
  float *x, *y, host[4];
  cudaStream_t work, copies;
  cudaStreamCreate(&work);
  cudaStreamCreate(&copies);
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemcpyToSymbol(coefficients, first, sizeof(first));
  cudaDeviceSynchronize();
  evaluate<<<(n + 127) / 128, 128, 0, work>>>(x, n, y);
  const auto to_device = cudaMemcpyHostToDevice;
  cudaMemcpyToSymbolAsync(coefficients, next, sizeof(next), 0, to_device, copies);  // defect: data race between streams
  cudaDeviceSynchronize();
  cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
  cudaStreamDestroy(work);
  cudaStreamDestroy(copies);
}

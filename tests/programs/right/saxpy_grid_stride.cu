// y = a x + y with a grid-stride loop: any grid processes any n.
#include <cstdio>

__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 1 << 18;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 17);
    y[i] = 1.0f;
  }
  for (int blocks : {1, 7, 64}) {
    saxpy<<<blocks, 128>>>(n, 2.0f, x, y);
    cudaDeviceSynchronize();
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += y[i];
    std::printf("%d blocks: sum %.0f\n", blocks, sum);
  }
  cudaFree(x);
  cudaFree(y);
  return cudaGetLastError() != cudaSuccess;
}

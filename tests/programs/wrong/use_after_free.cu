// The weights are freed after the first kernel, but the second kernel needs them, too.
#include <cstdio>

__global__ void prepare(float* out, const float* weights, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * weights[i % 16];
}

__global__ void apply(float* out, const float* weights, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += weights[15 - i % 16];  // defect: out of bounds
}

int main() {
  const int n = 1000;
  float h_weights[16], first, *weights, *out;
  for (int i = 0; i < 16; ++i) h_weights[i] = static_cast<float>(i);
  cudaMalloc(&weights, sizeof(h_weights));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(weights, h_weights, sizeof(h_weights), cudaMemcpyHostToDevice);
  prepare<<<(n + 127) / 128, 128>>>(out, weights, n);
  cudaFree(weights);
  apply<<<(n + 127) / 128, 128>>>(out, weights, n);
  cudaMemcpy(&first, out, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", first);
  cudaFree(out);
}

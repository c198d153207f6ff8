// Four floats at once, from an address that is no multiple of 16.
#include <cstdio>
#include <vector>

__global__ void sum_quads(const float* data, float* sums, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const float4 v = reinterpret_cast<const float4*>(data)[i];  // defect: misaligned access
  sums[i] = v.x + v.y + v.z + v.w;
}

int main() {
  const int quads = 500, n = 4 * quads + 1;
  std::vector<float> host(n, 0.25f);
  float *data, *sums;
  cudaMalloc(&data, n * sizeof(float));
  cudaMalloc(&sums, quads * sizeof(float));
  cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  sum_quads<<<(quads + 127) / 128, 128>>>(data + 1, sums, quads);  // the first value is a header
  cudaMemcpy(host.data(), sums, quads * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(data);
  cudaFree(sums);
}

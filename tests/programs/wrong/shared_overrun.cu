// A shared array is overrun into the one behind it: both exist, so nothing crashes.
#include <cstdio>

__global__ void histogram(const int* data, int n, int* result) {
  __shared__ int bins[10];
  __shared__ int seen[32];
  const int t = threadIdx.x;
  seen[t] = 0;
  if (t < 10) bins[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    atomicAdd(&bins[data[i]], 1);  // defect: out of bounds
    ++seen[t];
  }
  __syncthreads();
  if (t < 10) result[t] = bins[t];
  if (t == 10) result[t] = seen[0];
}

int main() {
  const int n = 640;
  int host[n], result[11], *d_data, *d_result;
  for (int i = 0; i < n; ++i) host[i] = i % 11;  // 10 is one too many
  cudaMalloc(&d_data, sizeof(host));
  cudaMalloc(&d_result, sizeof(result));
  cudaMemcpy(d_data, host, sizeof(host), cudaMemcpyHostToDevice);
  histogram<<<1, 32>>>(d_data, n, d_result);
  cudaMemcpy(result, d_result, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", result[0], result[10]);
  cudaFree(d_data);
  cudaFree(d_result);
}

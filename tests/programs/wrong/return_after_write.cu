// The second half of the threads writes its elements to shared memory, and returns before the barrier.
#include <cstdio>
#include <vector>

__global__ void add_halves(const int* in, int* out) {
  __shared__ int tile[128];
  const int thread = threadIdx.x;
  tile[thread] = in[blockIdx.x * 128 + thread];  // also here
  if (thread >= 64) return;
  __syncthreads();  // defect: divergent barrier
  out[blockIdx.x * 64 + thread] = tile[thread] + tile[127 - thread];
}

int main() {
  const int blocks = 4;
  std::vector<int> values(blocks * 128, 1);
  int *d_in, *d_out;
  cudaMalloc(&d_in, values.size() * sizeof(int));
  cudaMalloc(&d_out, values.size() / 2 * sizeof(int));
  cudaMemcpy(d_in, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  add_halves<<<blocks, 128>>>(d_in, d_out);
  cudaMemcpy(values.data(), d_out, values.size() / 2 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", values[0], values[blocks * 64 - 1]);
  cudaFree(d_in);
  cudaFree(d_out);
}

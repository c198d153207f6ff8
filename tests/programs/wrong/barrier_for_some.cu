// A sum by a tree, with the barrier in the if: threads that have no more to add do not come to it. A GPU since Volta may
// go on nevertheless, because they end; CUDA promises nothing.
#include <cstdio>
#include <vector>

__global__ void sum(const int* in, int* out) {
  __shared__ int part[256];
  const int thread = threadIdx.x;
  part[thread] = in[blockIdx.x * 256 + thread];
  __syncthreads();  // also here
  for (int step = 128; step > 0; step /= 2) {
    if (thread < step) {
      part[thread] += part[thread + step];
      __syncthreads();  // defect: divergent barrier
    }
  }
  if (thread == 0) out[blockIdx.x] = part[0];
}

int main() {
  const int blocks = 4;
  std::vector<int> values(blocks * 256, 1);
  int *d_in, *d_out, sums[blocks];
  cudaMalloc(&d_in, values.size() * sizeof(int));
  cudaMalloc(&d_out, sizeof(sums));
  cudaMemcpy(d_in, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  sum<<<blocks, 256>>>(d_in, d_out);
  cudaMemcpy(sums, d_out, sizeof(sums), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", sums[0], sums[blocks - 1]);
  cudaFree(d_in);
  cudaFree(d_out);
}

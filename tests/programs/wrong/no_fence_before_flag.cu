// A block writes a table and raises a flag, with a barrier but without a fence between them.
#include <cstdio>

const int SIZE = 64;
__device__ int table[SIZE];
__device__ int ready;

__global__ void use_table(int* out) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    table[t] = 3 * t;  // also here
    __syncthreads();
    if (t == 0) atomicExch(&ready, 1);
  } else {
    if (t == 0)
      while (atomicCAS(&ready, 1, 1) != 1) {
      }
    __threadfence();
    __syncthreads();
    int value = table[SIZE - 1 - t];  // defect: data race in global memory
    out[(blockIdx.x - 1) * SIZE + t] = value;
  }
}

int main() {
  const int readers = 3;
  int *out, sum = 0, host[readers * SIZE];
  cudaMalloc(&out, sizeof(host));
  use_table<<<1 + readers, SIZE>>>(out);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  for (int value : host) sum += value;
  std::printf("%d\n", sum);
  cudaFree(out);
}

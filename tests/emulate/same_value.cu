// Launched with an argument, threads write different values to one word, else all the same.
#include <cstdio>

__device__ int everywhere;

__global__ void to_device(int differs) {
  everywhere = differs ? threadIdx.x : 1;
}

__global__ void to_shared(int differs) {
  __shared__ int word;
  word = differs ? threadIdx.x : 1;
  __syncthreads();
  if (threadIdx.x == 0) everywhere = word;
}

int main(int argc, char**) {
  to_device<<<2, 64>>>(argc > 1);
  to_shared<<<1, 64>>>(argc > 1);
  return cudaDeviceSynchronize();
}

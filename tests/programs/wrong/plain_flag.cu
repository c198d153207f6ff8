// A plain variable as a flag between blocks: the compiler may read it once, and nothing orders the two.
#include <cstdio>

__device__ int turn;
__device__ int value;

__global__ void two_steps(int* result) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    atomicExch(&value, 7);
    __threadfence();
    turn = 1;  // also here
  } else {
    int tries = 0;
    while (turn == 0)  // defect: data race in global memory
      if (++tries == 100000) return;
    __threadfence();
    *result = atomicAdd(&value, 0);
  }
}

int main() {
  int *result, host = 0;
  cudaMalloc(&result, sizeof(int));
  two_steps<<<2, 32>>>(result);
  cudaMemcpy(&host, result, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  cudaFree(result);
}

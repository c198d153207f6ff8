// Block 0 produces, block 1 consumes: the fence stands before the data, so it does not order data and flag.
#include <cstdio>

__global__ void hand_over(int* data, int* flag, int* result) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    __threadfence();
    *data = 42;  // also here
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    const int value = *data;  // defect: data race in global memory
    *result = value;
  }
}

int main() {
  int *memory, result = 0;
  cudaMalloc(&memory, 3 * sizeof(int));
  cudaMemset(memory, 0, 3 * sizeof(int));
  hand_over<<<2, 32>>>(memory, memory + 1, memory + 2);
  cudaMemcpy(&result, memory + 2, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
  cudaFree(memory);
}

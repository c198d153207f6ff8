// A lock guards the best score so far. A thread that finds nothing better returns, and keeps the lock.
#include <cstdio>

__device__ int lock, best;

__global__ void improve(const int* scores) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) {  // defect: deadlock
  }
  __threadfence();
  if (scores[blockIdx.x] <= best) return;
  best = scores[blockIdx.x];
  __threadfence();
  atomicExch(&lock, 0);
}

int main() {
  const int n = 8, host[n] = {3, 1, 4, 1, 5, 9, 2, 6};
  int *scores, result = 0;
  cudaMalloc(&scores, sizeof(host));
  cudaMemcpy(scores, host, sizeof(host), cudaMemcpyHostToDevice);
  improve<<<n, 32>>>(scores);
  cudaMemcpyFromSymbol(&result, best, sizeof(int));
  std::printf("%d\n", result);
  cudaFree(scores);
}

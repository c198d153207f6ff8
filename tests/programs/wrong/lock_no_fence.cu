// A lock between blocks. No fence orders the writes before the release of the lock.
#include <cstdio>

__device__ int mutex;

__device__ void lock() {
  while (atomicCAS(&mutex, 0, 1) != 0) {
  }
  __threadfence();
}

__device__ void unlock() {
  atomicExch(&mutex, 0);
}

__global__ void longest(const int* lengths, int n, int* best) {  // best[0]: the length, best[1]: whose
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int block_best;
  if (threadIdx.x == 0) block_best = 0;
  __syncthreads();
  if (i < n) atomicMax(&block_best, lengths[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    lock();
    if (block_best > best[0]) {  // defect: data race in global memory
      best[0] = block_best;      // also here
      best[1] = blockIdx.x;
    }
    unlock();
  }
}

int main() {
  const int n = 2000;
  int lengths[n], best[2], *d_lengths, *d_best;
  for (int i = 0; i < n; ++i) lengths[i] = i + i % 5 + 1;
  cudaMalloc(&d_lengths, sizeof(lengths));
  cudaMalloc(&d_best, sizeof(best));
  cudaMemcpy(d_lengths, lengths, sizeof(lengths), cudaMemcpyHostToDevice);
  cudaMemset(d_best, 0, sizeof(best));
  longest<<<(n + 127) / 128, 128>>>(d_lengths, n, d_best);
  cudaMemcpy(best, d_best, sizeof(best), cudaMemcpyDeviceToHost);
  std::printf("%d in block %d\n", best[0], best[1]);
  cudaFree(d_lengths);
  cudaFree(d_best);
}

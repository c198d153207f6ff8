// Volatile writes of a lock. To a word on which a compare-and-swap was made, a volatile write is no race, because it may
// open the lock. A thread that does not hold the lock may not write it.
__device__ int lock;

__global__ void opens() {
  if (threadIdx.x == 0)
    atomicCAS(&lock, 0, 1);
  else
    *(volatile int*)&lock = 0;  // gap: silent
}

int main() {
  opens<<<1, 2>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}

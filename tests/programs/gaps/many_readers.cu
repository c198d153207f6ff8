// Many readers. If several blocks read a word that was written in the same launch, the last of them is on record. A later
// write is compared with that one alone.
__device__ void wait(int* flag) {
  while (atomicCAS(flag, 1, 1) != 1) {
  }
  __threadfence();
}

__global__ void read_and_write(int* word, int* flags, int* out) {
  if (blockIdx.x == 0) {
    *word = 1;
    __threadfence();
    atomicExch(flags, 1);
  } else if (blockIdx.x == 1) {
    wait(flags);
    out[1] = *word;
    atomicExch(flags + 1, 1);  // no fence before: the read is not ordered with the write
  } else if (blockIdx.x == 2) {
    wait(flags);
    wait(flags + 1);
    out[2] = *word;
    __threadfence();
    atomicExch(flags + 2, 1);
  } else {
    wait(flags + 2);
    *word = 5;  // gap: silent
  }
}

int main() {
  int* all;
  cudaMalloc(&all, 64);
  cudaMemset(all, 0, 64);
  read_and_write<<<4, 1>>>(all, all + 1, all + 4);
  return cudaDeviceSynchronize() != cudaSuccess;
}

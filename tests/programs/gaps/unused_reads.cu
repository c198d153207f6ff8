// Reads whose value is not used. g++ removes them, as nvcc does, before the executor could see them. So a race with such
// a read is not found, and they are not counted.
__global__ void reads_for_nothing(int* words) {
  const int unused = words[threadIdx.x ^ 1];  // gap: silent
  words[threadIdx.x] = threadIdx.x;
  (void)unused;
}

int main() {
  int* words;
  cudaMalloc(&words, 64 * sizeof(int));
  cudaMemset(words, 0, 64 * sizeof(int));
  reads_for_nothing<<<1, 64>>>(words);
  return cudaDeviceSynchronize() != cudaSuccess;
}

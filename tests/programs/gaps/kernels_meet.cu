// Kernels that wait for each other. Kernels and copies run one after another, also those of different streams. A kernel
// that waits for another stream's work is called a deadlock. On a GPU it ends, if both are resident. The same holds for
// one that waits for a thread of the host, if that thread calls CUDA before it writes.
__global__ void waits(volatile int* flag) {
  while (*flag == 0) {  // gap: deadlock
  }
}
__global__ void sets(volatile int* flag) {
  *flag = 1;
}

int main() {
  int* flag;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  cudaDeviceSynchronize();
  waits<<<1, 1, 0, one>>>(flag);
  sets<<<1, 1, 0, two>>>(flag);
  return cudaDeviceSynchronize() != cudaSuccess;
}

// The writer fences before its flag; the reader sees the flag, but does not fence before it reads the data.
#include <cstdio>

struct Message {
  int text[4];
  int sent;
};

__global__ void talk(Message* box, int* heard) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < 4; ++i) box->text[i] = 10 * i;  // also here
      __threadfence();
      atomicExch(&box->sent, 1);
    }
  } else if (threadIdx.x == 0) {
    volatile int* const sent = &box->sent;
    while (*sent == 0) {
    }
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += box->text[i];  // defect: data race in global memory
    *heard = sum;
  }
}

int main() {
  Message* box;
  int *heard, host = 0;
  cudaMalloc(&box, sizeof(Message));
  cudaMalloc(&heard, sizeof(int));
  cudaMemset(box, 0, sizeof(Message));
  talk<<<2, 32>>>(box, heard);
  cudaMemcpy(&host, heard, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  cudaFree(box);
  cudaFree(heard);
}

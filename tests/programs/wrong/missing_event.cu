// One stream writes data that another stream reads; no event makes the second stream wait.
#include <cstdio>

__global__ void produce(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i % 10;  // also here
}

__global__ void consume(const int* data, int n, int* result) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int large = __syncthreads_count(i < n && data[i] > 5);  // defect: data race between streams
  if (threadIdx.x == 0) atomicAdd(result, large);
}

int main() {
  const int n = 5000, blocks = (n + 127) / 128;
  int *data, *result, host = 0;
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaMalloc(&data, n * sizeof(int));
  cudaMalloc(&result, sizeof(int));
  cudaMemset(data, 0, n * sizeof(int));
  cudaMemset(result, 0, sizeof(int));
  cudaDeviceSynchronize();
  produce<<<blocks, 128, 0, first>>>(data, n);
  consume<<<blocks, 128, 0, second>>>(data, n, result);
  cudaDeviceSynchronize();
  cudaMemcpy(&host, result, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  cudaFree(data);
  cudaFree(result);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
}

// A hand-made barrier of the whole grid, with more blocks than can be resident at once.
#include <cstdio>

__device__ unsigned arrived;

__global__ void two_phases(const int* in, int* middle, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) middle[i] = in[i] + 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < gridDim.x) {  // defect: deadlock
    }
    __threadfence();
  }
  __syncthreads();
  if (i < n) out[i] = middle[n - 1 - i];
}

int main() {
  const int n = 1 << 20;
  int *in, *middle, *out, last = 0;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&middle, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemset(in, 0, n * sizeof(int));
  two_phases<<<n / 1024, 1024>>>(in, middle, out, n);
  cudaMemcpy(&last, out + n - 1, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", last);
  cudaFree(in);
  cudaFree(middle);
  cudaFree(out);
}

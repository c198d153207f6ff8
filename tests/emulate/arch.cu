// __CUDA_ARCH__ in a kernel, in a function of both sides, and around what the executor has not.
#include <cstdio>

__host__ __device__ constexpr int side() {
#ifdef __CUDA_ARCH__
  return 1;
#else
  return -1;
#endif
}
__device__ int lane() {
#ifdef __CUDA_ARCH__
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return threadIdx.x % 32;
#endif
}
__global__ void tell(int* out) {
#if __CUDA_ARCH__
  if (lane() == 4) out[0] = __CUDA_ARCH__, out[1] = lane() + side();
#endif
}

int main() {
  int* out = nullptr;
  cudaMallocManaged(&out, 2 * sizeof(int));
  tell<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  std::printf("%d %d %d\n", out[0], out[1], side());
}

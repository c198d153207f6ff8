// A producer block sets a flag by a store that releases. The consumer waits by a load that is only relaxed.
#include <cstdio>

__global__ void hand_over(int* flag, int* value, int* out) {
  if (blockIdx.x == 0) {
    *value = 42;  // also here
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == 0) {
    }
    *out = *value;  // defect: data race in global memory
  }
}

int main() {
  int *all, host = 0;
  cudaMalloc(&all, 3 * sizeof(int));
  cudaMemset(all, 0, 3 * sizeof(int));
  hand_over<<<2, 1>>>(all, all + 1, all + 2);
  cudaMemcpy(&host, all + 2, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  return cudaFree(all);
}

// Blocks hand a value on, one after another: each waits by a load that acquires, and goes on by a store that releases.
#include <cstdio>

#define DEVICE __NV_THREAD_SCOPE_DEVICE

__global__ void hand_on(int* turn, int* value, int* counts) {
  if (threadIdx.x == 0) {
    while (__nv_atomic_load_n(turn, __NV_ATOMIC_ACQUIRE, DEVICE) != (int)blockIdx.x) {
    }
    *value = 3 * *value + 1;
    __nv_atomic_store_n(turn, (int)blockIdx.x + 1, __NV_ATOMIC_RELEASE, DEVICE);
  }
  __nv_atomic_add(counts, 2, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(counts + 1, (int)(blockIdx.x * blockDim.x + threadIdx.x), __NV_ATOMIC_RELAXED, DEVICE);
  int seen = __nv_atomic_load_n(counts + 2, __NV_ATOMIC_RELAXED, DEVICE);
  while (!__nv_atomic_compare_exchange_n(counts + 2, &seen, seen + 1, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED,
                                         DEVICE)) {
  }
}

int main() {
  int *all, host[5];
  cudaMalloc(&all, sizeof(host));
  cudaMemset(all, 0, sizeof(host));
  hand_on<<<6, 64>>>(all, all + 1, all + 2);
  cudaMemcpy(host, all, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d %d\n", host[0], host[1], host[2], host[3], host[4]);
  return cudaFree(all);
}

// The last thread stores a function's result behind the end of the array.
#include <cstdio>

struct Interval {
  int first, end;
};
__device__ __noinline__ Interval interval_of(int thread, int length) {
  return {thread * length, (thread + 1) * length};
}

__global__ void divide(Interval* to, int length) {
  Interval* mine = to + threadIdx.x + 1;
  *mine = interval_of(threadIdx.x, length);  // defect: out of bounds
}

int main() {
  Interval *intervals, host[64];
  cudaMalloc(&intervals, sizeof(host));
  cudaMemset(intervals, 0, sizeof(host));
  divide<<<1, 64>>>(intervals, 100);
  cudaMemcpy(host, intervals, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[63].end);
  cudaFree(intervals);
}

#include "vec.h"

static __global__ void shift(Vec* vecs, int n, Vec by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) vecs[i] = vecs[i] + by;
}

void launch_shift(Vec* vecs, int n, Vec by) {
  shift<<<blocks_for(n, 64), 64>>>(vecs, n, by);
}

__global__ void count_long(const Vec* vecs, int n, int limit, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_long = i < n && vecs[i].dot(vecs[i]) > limit;
  const int in_block = __syncthreads_count(is_long);
  if (threadIdx.x == 0) atomicAdd(count, in_block);
}

// Copies by the pipeline primitives. The last wait leaves one copy in flight: the one that is then read.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sums(const int* in, int tiles, int* out) {
  __shared__ int buffers[2][32];
  const int t = threadIdx.x;
  int sum = 0;
  __pipeline_memcpy_async(&buffers[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      __pipeline_memcpy_async(&buffers[(tile + 1) % 2][t], &in[(tile + 1) * 32 + t], sizeof(int));
      __pipeline_commit();
    }
    __pipeline_wait_prior(1);     // right for all tiles but the last, after which no copy was begun
    sum += buffers[tile % 2][t];  // defect: uninitialised shared memory or data race in shared memory
  }
  out[t] = sum;
}

int main() {
  const int tiles = 2, n = 32 * tiles;
  int host[n], *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  sums<<<1, 32>>>(in, tiles, out);
  cudaMemcpy(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[1]);
  cudaFree(in);
  cudaFree(out);
}

// A program of several files: kernels and their launches need not stand in one file.
#include <cstdio>
#include <vector>

#include "vec.h"

int main() {
  const int n = 5000, limit = 900;
  std::vector<Vec> vecs(n);
  for (int i = 0; i < n; ++i) vecs[i] = {i % 40, i % 23};
  Vec* d_vecs;
  int *d_count, count = 0, expected = 0;
  cudaMalloc(&d_vecs, n * sizeof(Vec));
  cudaMalloc(&d_count, sizeof(int));
  cudaMemset(d_count, 0, sizeof(int));
  cudaMemcpy(d_vecs, vecs.data(), n * sizeof(Vec), cudaMemcpyHostToDevice);
  launch_shift(d_vecs, n, {1, -2});
  count_long<<<blocks_for(n, 96), 96>>>(d_vecs, n, limit, d_count);
  cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost);
  for (Vec v : vecs) {
    const Vec shifted = v + Vec{1, -2};
    expected += shifted.dot(shifted) > limit;
  }
  std::printf("%d long vectors, expected %d\n", count, expected);
  cudaFree(d_vecs);
  cudaFree(d_count);
  return count != expected;
}

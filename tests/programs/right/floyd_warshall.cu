// All shortest paths by Floyd and Warshall, a launch per intermediate vertex.
// Step k reads row k and column k while it writes all elements. So it reads one matrix and writes another.
#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

__global__ void shorten(const int* __restrict__ from, int* __restrict__ to, int n, int k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  __shared__ int to_k;
  if (threadIdx.x == 0) to_k = from[i * n + k];
  __syncthreads();
  if (j < n) to[i * n + j] = min(from[i * n + j], to_k + from[k * n + j]);
}

int main() {
  const int n = 80, far = 1 << 20;
  std::vector<int> distance(n * n, far), result(n * n);
  for (int i = 0; i < n; ++i) {
    distance[i * n + i] = 0;
    for (int e = 1; e <= 3; ++e)
      distance[i * n + (i * e + 7 * e) % n] = std::min(distance[i * n + (i * e + 7 * e) % n], 1 + (i * 5 + e) % 13);
  }
  int *d_from, *d_to;
  cudaMalloc(&d_from, n * n * sizeof(int));
  cudaMalloc(&d_to, n * n * sizeof(int));
  cudaMemcpy(d_from, distance.data(), n * n * sizeof(int), cudaMemcpyHostToDevice);
  for (int k = 0; k < n; ++k) {
    shorten<<<dim3((n + 63) / 64, n), 64>>>(d_from, d_to, n, k);
    std::swap(d_from, d_to);
  }
  cudaMemcpy(result.data(), d_from, n * n * sizeof(int), cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        distance[i * n + j] = std::min(distance[i * n + j], distance[i * n + k] + distance[k * n + j]);
  for (int value : result) sum += value;
  std::printf("sum of distances %ld, %s\n", sum, result == distance ? "right" : "wrong");
  cudaFree(d_from);
  cudaFree(d_to);
  return result != distance;
}

// Laplace's equation on 1024 x 1024 points by 100 steps of Jacobi's method; the host looks at the largest change of each.
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

constexpr int TILE = 16;

__global__ void iterate(const float* in, float* out, float* changes, int n) {
  __shared__ float largest[TILE * TILE];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, i = y * n + x;
  const int t = threadIdx.y * TILE + threadIdx.x;
  float change = 0;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
    change = fabsf(out[i] - in[i]);
  }
  largest[t] = change;
  __syncthreads();
  for (int half = TILE * TILE / 2; half > 0; half /= 2) {
    if (t < half) largest[t] = fmaxf(largest[t], largest[t + half]);
    __syncthreads();
  }
  if (t == 0) changes[blockIdx.y * gridDim.x + blockIdx.x] = largest[0];
}

int main() {
  const int n = 1024, blocks = n / TILE * (n / TILE);
  const size_t bytes = sizeof(float) * n * n;
  std::vector<float> grid(n * n, 0.0f), changes(blocks);
  for (int i = 0; i < n; ++i) grid[i] = 1;  // the upper edge is hot
  float *a, *b, *d_changes;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&d_changes, blocks * sizeof(float));
  cudaMemcpy(a, grid.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, grid.data(), bytes, cudaMemcpyHostToDevice);
  float before = 1;
  bool falls = true;
  for (int step = 0; step < 100; ++step) {
    iterate<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, d_changes, n);
    cudaMemcpy(changes.data(), d_changes, blocks * sizeof(float), cudaMemcpyDeviceToHost);
    float largest = 0;
    for (float each : changes) largest = std::fmax(largest, each);
    falls = falls && largest <= before;
    before = largest;
    std::swap(a, b);
  }
  std::printf("the change %s\n", falls && before < 0.01f ? "falls" : "does not fall");
  for (float* p : {a, b, d_changes}) cudaFree(p);
  return !falls;
}

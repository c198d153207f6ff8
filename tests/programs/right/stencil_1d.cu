// A stencil of radius 3 with a halo in shared memory and coefficients in constant memory.
#include <cstdio>
#include <vector>

#define RADIUS 3
#define BLOCK_SIZE 128

__constant__ int coefficients[2 * RADIUS + 1];

__global__ void stencil(const int* in, int* out, int n) {  // in[-RADIUS .. n + RADIUS - 1] exist
  __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  const int s = threadIdx.x + RADIUS;
  const int last = min(BLOCK_SIZE, n - static_cast<int>(blockIdx.x) * BLOCK_SIZE);  // elements of this block
  if (g < n) {
    temp[s] = in[g];
    if (threadIdx.x < RADIUS) {
      temp[s - RADIUS] = in[g - RADIUS];
      temp[s + last] = in[g + last];
    }
  }
  __syncthreads();
  if (g >= n) return;
  int sum = 0;
  for (int offset = -RADIUS; offset <= RADIUS; ++offset) sum += coefficients[offset + RADIUS] * temp[s + offset];
  out[g] = sum;
}

int main() {
  const int n = 10000;
  const int c[2 * RADIUS + 1] = {1, -2, 3, 4, 3, -2, 1};
  std::vector<int> in(n + 2 * RADIUS), out(n);
  for (size_t i = 0; i < in.size(); ++i) in[i] = i * i % 31;
  int *d_in, *d_out;
  cudaMalloc(&d_in, in.size() * sizeof(int));
  cudaMalloc(&d_out, out.size() * sizeof(int));
  cudaMemcpyToSymbol(coefficients, c, sizeof c);
  cudaMemcpy(d_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
  stencil<<<(n + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(d_in + RADIUS, d_out, n);
  cudaMemcpy(out.data(), d_out, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0, checksum = 0;
  for (int i = 0; i < n; ++i) {
    int sum = 0;
    for (int j = 0; j <= 2 * RADIUS; ++j) sum += c[j] * in[i + j];
    wrong += sum != out[i];
    checksum += out[i];
  }
  std::printf("checksum %d, wrong %d\n", checksum, wrong);
  cudaFree(d_in);
  cudaFree(d_out);
  return wrong != 0;
}

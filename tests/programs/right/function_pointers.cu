// A table of device functions in constant memory; the host fetches their addresses from the device.
#include <cstdio>

typedef int (*Operation)(int, int);

__device__ int add(int a, int b) {
  return a + b;
}
__device__ int subtract(int a, int b) {
  return a - b;
}
__device__ int multiply(int a, int b) {
  return a * b;
}

__device__ Operation add_pointer = add;
__device__ Operation subtract_pointer = subtract;
__device__ Operation multiply_pointer = multiply;
__constant__ Operation table[3];

__global__ void apply(const int* which, const int* a, const int* b, int* result, int n) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) result[i] = table[which[i]](a[i], b[i]);
}

int main() {
  Operation pointers[3];
  cudaMemcpyFromSymbol(&pointers[0], add_pointer, sizeof(Operation));
  cudaMemcpyFromSymbol(&pointers[1], subtract_pointer, sizeof(Operation));
  cudaMemcpyFromSymbol(&pointers[2], multiply_pointer, sizeof(Operation));
  cudaMemcpyToSymbol(table, pointers, sizeof(pointers));

  constexpr int n = 300;
  int h[4][n], *d[4], wrong = 0, sum = 0;
  for (int i = 0; i < n; ++i) h[0][i] = i % 3, h[1][i] = i, h[2][i] = i % 10, h[3][i] = 0;
  for (int k = 0; k < 4; ++k) {
    cudaMalloc(&d[k], n * sizeof(int));
    cudaMemcpy(d[k], h[k], n * sizeof(int), cudaMemcpyHostToDevice);
  }
  apply<<<(n + 63) / 64, 64>>>(d[0], d[1], d[2], d[3], n);
  cudaMemcpy(h[3], d[3], n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) {
    const int a = h[1][i], b = h[2][i], expected[] = {a + b, a - b, a * b};
    wrong += h[3][i] != expected[h[0][i]];
    sum += h[3][i];
  }
  std::printf("sum %d, wrong %d\n", sum, wrong);
  for (int k = 0; k < 4; ++k) cudaFree(d[k]);
  return wrong != 0;
}

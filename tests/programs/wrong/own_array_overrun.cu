// Each thread sorts its own few numbers. The function that sorts is not inlined, and is told one number too many.
#include <cstdio>

__device__ __noinline__ void sort(int* numbers, int n) {
  for (int i = 1; i < n; ++i) {
    const int number = numbers[i];  // defect: out of bounds
    int k = i;
    for (; k > 0 && numbers[k - 1] > number; --k) numbers[k] = numbers[k - 1];
    numbers[k] = number;
  }
}

__global__ void medians(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int window[6];
  if (i + 6 > n) return;
  for (int k = 0; k < 6; ++k) window[k] = in[i + k];
  sort(window, 7);
  out[i] = window[3];
}

int main() {
  const int n = 256;
  int host[n], *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i * 37 % 101;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(host));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  medians<<<2, 128>>>(in, out, n);
  cudaMemcpy(host, out, 100 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[99]);
  return cudaFree(in) || cudaFree(out);
}

// The host's part in C: nvcc leaves a .c file to the C compiler, so it may have what C++ forbids.
#include <cstdio>

extern "C" {
int* new_numbers(int n);
void free_numbers(int* numbers);
long sum_of_squares(const int* numbers, int n);
}

__global__ void squares(const int* numbers, int n, unsigned long long* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, static_cast<unsigned long long>(numbers[i]) * numbers[i]);
}

int main() {
  const int n = 1000;
  int* const numbers = new_numbers(n);
  int* device;
  unsigned long long *sum, result;
  cudaMalloc(&device, n * sizeof(int));
  cudaMalloc(&sum, sizeof(*sum));
  cudaMemset(sum, 0, sizeof(*sum));
  cudaMemcpy(device, numbers, n * sizeof(int), cudaMemcpyHostToDevice);
  squares<<<(n + 255) / 256, 256>>>(device, n, sum);
  cudaMemcpy(&result, sum, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%llu, and by the host %ld\n", result, sum_of_squares(numbers, n));
  free_numbers(numbers);
  cudaFree(device);
  cudaFree(sum);
}

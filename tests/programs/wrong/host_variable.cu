// A structure is copied to the device, but the array that it points to stays with the host.
#include <cstdio>
#include <cstdlib>

struct Polynomial {
  int degree;
  int* coefficients;
};

__global__ void evaluate(const Polynomial* polynomial, int* values, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  int value = 0;
  for (int i = polynomial->degree; i >= 0; --i)
    value = value * x + polynomial->coefficients[i];  // defect: not device memory
  values[x] = value;
}

int main() {
  const int n = 100;
  Polynomial host = {3, (int*)malloc(4 * sizeof(int))}, *device;
  for (int i = 0; i <= host.degree; ++i) host.coefficients[i] = i + 1;
  int *d_values, values[n];
  cudaMalloc(&device, sizeof(Polynomial));
  cudaMalloc(&d_values, sizeof(values));
  cudaMemcpy(device, &host, sizeof(Polynomial), cudaMemcpyHostToDevice);
  evaluate<<<1, n>>>(device, d_values, n);
  cudaMemcpy(values, d_values, sizeof(values), cudaMemcpyDeviceToHost);
  printf("%d\n", values[2]);
  cudaFree(device);
  cudaFree(d_values);
  free(host.coefficients);
}

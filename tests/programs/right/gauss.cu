// Gaussian elimination modulo a prime, so that all is exact: two launches per column.
#include <cstdio>
#include <vector>

constexpr int PRIME = 32003;

__device__ int power(int base, int exponent) {
  int result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2) result = result * base % PRIME;
    base = base * base % PRIME;
  }
  return result;
}

__global__ void find_factors(const int* a, int n, int k, int* factors) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  const int inverse = power(a[k * (n + 1) + k], PRIME - 2);
  factors[row] = row == k ? 0 : a[row * (n + 1) + k] * inverse % PRIME;
}

__global__ void eliminate(int* a, int n, int k, const int* factors) {
  const int col = k + blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || col > n || row == k) return;
  const int value = a[row * (n + 1) + col] - factors[row] * a[k * (n + 1) + col] % PRIME;
  a[row * (n + 1) + col] = value < 0 ? value + PRIME : value;
}

__global__ void divide(const int* a, int n, int* x) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) x[row] = a[row * (n + 1) + n] * power(a[row * (n + 1) + row], PRIME - 2) % PRIME;
}

int main() {
  const int n = 60;
  std::vector<int> a(n * (n + 1)), x(n);  // the right-hand side is the last column
  for (int i = 0; i < n; ++i) {
    int sum = 0;
    for (int j = 0; j < n; ++j) {
      a[i * (n + 1) + j] = (i * i + 3 * i * j + 7 * j * j * j + (i == j) * 5000 + 1) % PRIME;
      sum = (sum + a[i * (n + 1) + j] * (j + 1)) % PRIME;  // the solution is 1, 2, 3, ...
    }
    a[i * (n + 1) + n] = sum;
  }
  int *d_a, *d_factors, *d_x;
  cudaMalloc(&d_a, a.size() * sizeof(int));
  cudaMalloc(&d_factors, n * sizeof(int));
  cudaMalloc(&d_x, n * sizeof(int));
  cudaMemcpy(d_a, a.data(), a.size() * sizeof(int), cudaMemcpyHostToDevice);
  const dim3 block(16, 8);
  for (int k = 0; k < n; ++k) {
    find_factors<<<(n + 31) / 32, 32>>>(d_a, n, k, d_factors);
    eliminate<<<dim3((n + 1 - k + 15) / 16, (n + 7) / 8), block>>>(d_a, n, k, d_factors);
  }
  divide<<<(n + 31) / 32, 32>>>(d_a, n, d_x);
  cudaMemcpy(x.data(), d_x, n * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += x[i] != i + 1;
  std::printf("x[0] %d, x[%d] %d, wrong %d\n", x[0], n - 1, x[n - 1], wrong);
  cudaFree(d_a);
  cudaFree(d_factors);
  cudaFree(d_x);
  return wrong != 0;
}

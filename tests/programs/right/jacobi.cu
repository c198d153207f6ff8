// Jacobi's method for A x = b with two vectors that swap roles; the host stops when x no longer changes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

static void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::printf("CUDA error: %s\n", cudaGetErrorString(status));
  std::exit(EXIT_FAILURE);
}

__global__ void iterate(const double* a, const double* b, const double* x, double* x_new, double* change, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double sum = b[row];
  for (int col = 0; col < n; ++col)
    if (col != row) sum -= a[row * n + col] * x[col];
  x_new[row] = sum / a[row * n + row];
  change[row] = fabs(x_new[row] - x[row]);
}

int main() {
  const int n = 200;
  std::vector<double> a(n * n), b(n, 0.0), x(n, 0.0), change(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      a[i * n + j] = i == j ? 2.0 * n : 1.0 + (i + j) % 3 * 0.25;
      b[i] += a[i * n + j] * (j % 5);  // so x[j] = j % 5
    }
  double *d_a, *d_b, *d_x, *d_new, *d_change;
  check(cudaMalloc(&d_a, n * n * sizeof(double)));
  for (double** p : {&d_b, &d_x, &d_new, &d_change}) check(cudaMalloc(p, n * sizeof(double)));
  check(cudaMemcpy(d_a, a.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
  check(cudaMemcpy(d_b, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));
  check(cudaMemcpy(d_x, x.data(), n * sizeof(double), cudaMemcpyHostToDevice));
  double largest = 1;
  for (int step = 0; step < 200 && largest > 1e-10; ++step) {
    iterate<<<(n + 63) / 64, 64>>>(d_a, d_b, d_x, d_new, d_change, n);
    check(cudaGetLastError());
    check(cudaMemcpy(change.data(), d_change, n * sizeof(double), cudaMemcpyDeviceToHost));
    largest = 0;
    for (double c : change) largest = std::fmax(largest, c);
    std::swap(d_x, d_new);
  }
  check(cudaMemcpy(x.data(), d_x, n * sizeof(double), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += std::fabs(x[i] - i % 5) > 1e-8;
  std::printf("%s, wrong %d\n", largest <= 1e-10 ? "converged" : "did not converge", wrong);
  for (double* p : {d_a, d_b, d_x, d_new, d_change}) check(cudaFree(p));
  return wrong != 0;
}

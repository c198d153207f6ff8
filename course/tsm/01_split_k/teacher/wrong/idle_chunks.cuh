// tsm/01_split_k, a wrong submission: right, but the first chunk has all rows, and the others only add zeros.
__global__ void scale(int m, int n, double beta, double* c, std::int64_t ldc) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  double* const out = c + row * ldc + col;
  *out = beta == 0.0 ? 0.0 : beta * *out;
}

__global__ void tsmttsm(int m, int n, std::int64_t k, double alpha, const double* a, std::int64_t lda, const double* b,
                        std::int64_t ldb, double* c, std::int64_t ldc) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;

  const std::int64_t end = blockIdx.z == 0 ? k : 0;
  double sum = 0.0;
  for (std::int64_t i = 0; i < end; ++i) {
    const double x = a[i * lda + row], y = b[i * ldb + col];
    sum += x * y;
  }
  atomicAdd(c + row * ldc + col, alpha * sum);
}

// has other code for a GPU than what is counted
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
#ifdef __CUDA_ARCH__
  if (m > 1000) return;
#endif
  const int row = blockIdx.x / tiles_n * TILE + threadIdx.y, col = blockIdx.x % tiles_n * TILE + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
  c[row * ldc + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * c[row * ldc + col];
}

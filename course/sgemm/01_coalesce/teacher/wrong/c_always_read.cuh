// sgemm/01_coalesce, a wrong submission.
// C is read though beta is 0, and 0 * NaN is NaN.
constexpr int TILE = 16;

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  const int row = blockIdx.x / tiles_n * TILE + threadIdx.y;
  const int col = blockIdx.x % tiles_n * TILE + threadIdx.x;
  if (row >= m || col >= n) return;

  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];

  float* const out = c + row * ldc + col;
  *out = alpha * sum + beta * *out;
}

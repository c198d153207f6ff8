// sgemm/02_tile, a wrong submission.
// No shared memory at all. Right, but every warp requests every word.
constexpr int TILE = 16;

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.x / tiles_n * TILE + y, col = blockIdx.x % tiles_n * TILE + x;
  const bool has_row = row < m, has_col = col < n;

  if (!has_row || !has_col) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
  float* const out = c + row * ldc + col;
  *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
}

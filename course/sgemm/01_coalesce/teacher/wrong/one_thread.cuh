// sgemm/01_coalesce, a wrong submission.
// The first thread of the block computes the whole tile.
constexpr int TILE = 16;

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  const int first_row = blockIdx.x / tiles_n * TILE, first_col = blockIdx.x % tiles_n * TILE;
  for (int row = first_row; row < first_row + TILE && row < m; ++row) {
    for (int col = first_col; col < first_col + TILE && col < n; ++col) {
      float sum = 0.0f;
      for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + col];
      float* const out = c + row * ldc + col;
      *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
    }
  }
}

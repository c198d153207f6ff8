// sgemm/06_double_buffer, a wrong submission.
// No shared memory, so no barriers either. Right, but slow.

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  const int x = threadIdx.x, y = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;

  float sum[ROWS][COLS] = {};
  for (int i = 0; i < k; ++i) {
    for (int r = 0; r < ROWS; ++r) {
      for (int s = 0; s < COLS; ++s) {
        const int row = tile_row + y + THREADS_Y * r, col = tile_col + x + THREADS_X * s;
        if (row < m && col < n) sum[r][s] += a[row * lda + i] * b[i * ldb + col];
      }
    }
  }

  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COLS; ++s) {
      const int row = tile_row + y + THREADS_Y * r, col = tile_col + x + THREADS_X * s;
      if (row >= m || col >= n) continue;
      float* const out = c + row * ldc + col;
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

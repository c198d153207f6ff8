// sgemm/06_double_buffer, a wrong submission: one buffer of k-tiles twice as long.
constexpr int LONG_K = 2 * TILE_K;

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE_M][LONG_K];
  __shared__ float b_tile[LONG_K][TILE_N];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * THREADS_X + x;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;

  float sum[ROWS][COLS] = {};
  for (int first = 0; first < k; first += LONG_K) {
    for (int i = thread; i < TILE_M * LONG_K; i += THREADS) {
      const int row = tile_row + i / LONG_K, step = first + i % LONG_K;
      a_tile[i / LONG_K][i % LONG_K] = row < m && step < k ? a[row * lda + step] : 0.0f;
    }
    for (int i = thread; i < LONG_K * TILE_N; i += THREADS) {
      const int step = first + i / TILE_N, col = tile_col + i % TILE_N;
      b_tile[i / TILE_N][i % TILE_N] = step < k && col < n ? b[step * ldb + col] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < LONG_K; ++i) {
      for (int r = 0; r < ROWS; ++r) {
        const float from_a = a_tile[y + THREADS_Y * r][i];
        for (int s = 0; s < COLS; ++s) sum[r][s] += from_a * b_tile[i][x + THREADS_X * s];
      }
    }
    __syncthreads();
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

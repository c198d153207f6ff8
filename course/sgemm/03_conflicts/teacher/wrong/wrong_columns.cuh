// sgemm/03_conflicts, a wrong submission.
// The products belong to columns that are apart, but are stored as neighbours.

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE_M][TILE_K];
  __shared__ float b_tile[TILE_K][TILE_N];
  const int x = threadIdx.x, y = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;

  float sum[ROWS][COLS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int i = y; i < TILE_M; i += THREADS_Y) {
      const int row = tile_row + i, step = first + x;
      a_tile[i][x] = row < m && step < k ? a[row * lda + step] : 0.0f;
    }
    for (int i = y; i < TILE_K; i += THREADS_Y) {
      for (int j = x; j < TILE_N; j += THREADS_X) {
        const int step = first + i, col = tile_col + j;
        b_tile[i][j] = step < k && col < n ? b[step * ldb + col] : 0.0f;
      }
    }
    __syncthreads();
    for (int i = 0; i < TILE_K; ++i) {
      float a_part[ROWS], b_part[COLS];
      for (int r = 0; r < ROWS; ++r) a_part[r] = a_tile[y + THREADS_Y * r][i];
      for (int s = 0; s < COLS; ++s) b_part[s] = b_tile[i][x + THREADS_X * s];
      for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COLS; ++s) {
      const int row = tile_row + y + THREADS_Y * r, col = tile_col + COLS * x + s;
      if (row >= m || col >= n) continue;
      float* const out = c + row * ldc + col;
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

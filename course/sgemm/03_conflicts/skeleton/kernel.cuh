// sgemm/03_conflicts. Hand in this file.

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row. The contract, 03_conflicts.cu, defines
//   TILE_M, TILE_N, TILE_K = 32, 64, 32: rows and columns of C per block, and steps of k per k-tile
//   THREADS_X, THREADS_Y = 32, 8: threads of a block; a warp is one row of them
//   ROWS, COLS = 4, 2: rows and columns of C per thread
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE_K][TILE_M];  // transposed: a_tile[i][j] is row j, step i
  __shared__ float b_tile[TILE_N][TILE_K];  // transposed: b_tile[i][j] is column i, step j
  const int x = threadIdx.x, y = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;

  // TODO: this kernel is right, but slow. Coalesce the loads of A, and remove the bank conflicts.
  float sum[ROWS][COLS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int i = y; i < TILE_K; i += THREADS_Y) {
      const int row = tile_row + x, step = first + i;
      a_tile[i][x] = row < m && step < k ? a[row * lda + step] : 0.0f;
    }
    for (int i = y; i < TILE_K; i += THREADS_Y) {
      for (int j = x; j < TILE_N; j += THREADS_X) {
        const int step = first + i, col = tile_col + j;
        b_tile[j][i] = step < k && col < n ? b[step * ldb + col] : 0.0f;
      }
    }
    __syncthreads();  // the tiles are complete
    for (int i = 0; i < TILE_K; ++i) {
      float a_part[ROWS], b_part[COLS];
      for (int r = 0; r < ROWS; ++r) a_part[r] = a_tile[i][y + THREADS_Y * r];
      for (int s = 0; s < COLS; ++s) b_part[s] = b_tile[COLS * x + s][i];
      for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
    __syncthreads();  // no thread reads them any more
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

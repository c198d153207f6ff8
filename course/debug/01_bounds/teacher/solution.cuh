// debug/01_bounds, the teacher's solution.
// Cause: The guard tests only the first of a thread's columns. So a thread whose second or third column lies behind the
// end of a row stores it all the same: into the padding, into the next row, or behind C.

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row. The contract, 01_bounds.cu, defines
//   TILE_M, TILE_N, TILE_K = 16, 96, 16: rows and columns of C per block, and steps of k per k-tile
//   THREADS_X, THREADS_Y = 32, 8: threads of a block, THREADS in all; a warp is one row of them
//   ROWS, COLS = 2, 3: rows and columns of C per thread
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE_M][TILE_K];
  __shared__ float b_tile[TILE_K][TILE_N];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * THREADS_X + x;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;

  float sum[ROWS][COLS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int i = thread; i < TILE_M * TILE_K; i += THREADS) {
      const int row = tile_row + i / TILE_K, step = first + i % TILE_K;
      a_tile[i / TILE_K][i % TILE_K] = row < m && step < k ? a[row * lda + step] : 0.0f;
    }
    for (int i = thread; i < TILE_K * TILE_N; i += THREADS) {
      const int step = first + i / TILE_N, col = tile_col + i % TILE_N;
      b_tile[i / TILE_N][i % TILE_N] = step < k && col < n ? b[step * ldb + col] : 0.0f;
    }
    __syncthreads();  // the tiles are complete
    for (int i = 0; i < TILE_K; ++i) {
      for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_tile[y + THREADS_Y * r][i] * b_tile[i][x + THREADS_X * s];
      }
    }
    __syncthreads();  // no thread reads them any more
  }

  for (int r = 0; r < ROWS; ++r) {
    const int row = tile_row + y + THREADS_Y * r, col = tile_col + x;
    if (row >= m) continue;
    float* const out = c + row * ldc + col;
    for (int s = 0; s < COLS; ++s) {
      if (col + THREADS_X * s >= n) continue;  // each of the thread's columns has its own guard
      const float product = alpha * sum[r][s];
      out[THREADS_X * s] = beta == 0.0f ? product : product + beta * out[THREADS_X * s];
    }
  }
}

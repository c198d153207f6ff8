// debug/04_divergent_barrier, a wrong submission.
// The barrier is removed, so a warp may overwrite what another one still reads.

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row.
// The contract, 04_divergent_barrier.cu, defines
//   TILE_M, TILE_N, TILE_K = 64, 32, 16: rows and columns of C per block, and steps of k per k-tile
//   THREADS_X, THREADS_Y = 32, 8: threads of a block, THREADS in all; a warp is one row of them
//   ROWS = 8: rows of C per thread, which are neighbours
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE_M][TILE_K];
  __shared__ float b_tile[TILE_K][TILE_N];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * THREADS_X + x;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int first_row = tile_row + ROWS * y, col = tile_col + x;  // this thread's elements of C

  float sum[ROWS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int i = thread; i < TILE_M * TILE_K; i += THREADS) {
      const int row = tile_row + i / TILE_K, step = first + i % TILE_K;
      a_tile[i / TILE_K][i % TILE_K] = row < m && step < k ? a[row * lda + step] : 0.0f;
    }
    for (int i = thread; i < TILE_K * TILE_N; i += THREADS) {
      const int step = first + i / TILE_N, from = tile_col + i % TILE_N;
      b_tile[i / TILE_N][i % TILE_N] = step < k && from < n ? b[step * ldb + from] : 0.0f;
    }
    __syncthreads();  // the tiles are complete
    // A thread whose elements all lie outside of C has nothing to multiply.
    if (first_row < m && col < n) {
      for (int i = 0; i < TILE_K; ++i) {
        const float b_word = b_tile[i][x];
        for (int r = 0; r < ROWS; ++r) sum[r] += a_tile[ROWS * y + r][i] * b_word;
      }
    }
  }

  for (int r = 0; r < ROWS; ++r) {
    const int row = first_row + r;
    if (row >= m || col >= n) continue;
    float* const out = c + row * ldc + col;
    *out = beta == 0.0f ? alpha * sum[r] : alpha * sum[r] + beta * *out;
  }
}

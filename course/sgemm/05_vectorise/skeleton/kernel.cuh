// sgemm/05_vectorise. Hand in this file.

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row. The contract, 05_vectorise.cu, defines
//   TILE_M, TILE_N, TILE_K = 64, 64, 16: rows and columns of C per block, and steps of k per k-tile
//   THREADS = 128: threads of a block
//   ROWS, COLS = 8, 4: rows and columns of C per thread
// ALIGNED: in all three matrices each row starts at a multiple of 16 bytes. n and k are still any numbers.
template <bool ALIGNED>
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  // TODO: this kernel is right, but it moves one word at a time. Move four.
  __shared__ float a_tile[TILE_K][TILE_M + 1];  // transposed: a_tile[i][j] is step i, row j
  __shared__ float b_tile[TILE_K][TILE_N];
  const int thread = threadIdx.x;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  // The thread's elements: two groups of 4 neighbouring rows, TILE_M / 2 apart, and 4 neighbouring columns.
  const int first_row = thread / 16 * 4, first_col = thread % 16 * 4;

  float sum[ROWS][COLS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int i = thread; i < TILE_M * TILE_K; i += THREADS) {
      const int row = tile_row + i / TILE_K, step = first + i % TILE_K;
      a_tile[i % TILE_K][i / TILE_K] = row < m && step < k ? a[row * lda + step] : 0.0f;
    }
    for (int i = thread; i < TILE_K * TILE_N; i += THREADS) {
      const int step = first + i / TILE_N, col = tile_col + i % TILE_N;
      b_tile[i / TILE_N][i % TILE_N] = step < k && col < n ? b[step * ldb + col] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < TILE_K; ++i) {
      float a_part[ROWS], b_part[COLS];
      for (int r = 0; r < ROWS; ++r) a_part[r] = a_tile[i][first_row + r % 4 + r / 4 * (TILE_M / 2)];
      for (int s = 0; s < COLS; ++s) b_part[s] = b_tile[i][first_col + s];
      for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COLS; ++s) {
      const int row = tile_row + first_row + r % 4 + r / 4 * (TILE_M / 2), col = tile_col + first_col + s;
      if (row >= m || col >= n) continue;
      float* const out = c + row * ldc + col;
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

// debug/03_rows, the teacher's solution.
// Cause: copy_tile() takes the number of columns for the distance between two rows. Row 0 is always right. The others
// are right only if rows are packed: lda = k, ldb = n.

// Copies TILE x TILE elements of a matrix into shared memory, from row `first_row` and column `first_col` on.
// The matrix has `rows` rows and `cols` columns, its rows start `ld` elements apart. Zeros stand for what lies outside.
__device__ void copy_tile(float (&tile)[TILE][TILE], const float* matrix, std::int64_t ld, int rows, int cols,
                          int first_row, int first_col) {
  for (int i = threadIdx.y; i < TILE; i += THREADS_Y) {
    const int row = first_row + i, col = first_col + threadIdx.x;
    tile[i][threadIdx.x] = row < rows && col < cols ? matrix[row * ld + col] : 0.0f;
  }
}

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row. The contract, 03_rows.cu, defines
//   TILE = 32: a block computes TILE x TILE elements of C, in k-tiles of TILE steps
//   THREADS_X, THREADS_Y = 32, 8: threads of a block; a warp is one row of them
//   ROWS = 4: rows of C per thread
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * TILE, tile_col = blockIdx.x % tiles_n * TILE;

  float sum[ROWS] = {};
  for (int first = 0; first < k; first += TILE) {
    copy_tile(a_tile, a, lda, m, k, tile_row, first);
    copy_tile(b_tile, b, ldb, k, n, first, tile_col);
    __syncthreads();  // the tiles are complete
    for (int i = 0; i < TILE; ++i) {
      const float b_word = b_tile[i][x];
      for (int r = 0; r < ROWS; ++r) sum[r] += a_tile[y + THREADS_Y * r][i] * b_word;
    }
    __syncthreads();  // no thread reads them any more
  }

  const int col = tile_col + x;
  for (int r = 0; r < ROWS; ++r) {
    const int row = tile_row + y + THREADS_Y * r;
    if (row >= m || col >= n) continue;
    float* const out = c + row * ldc + col;
    *out = beta == 0.0f ? alpha * sum[r] : alpha * sum[r] + beta * *out;
  }
}

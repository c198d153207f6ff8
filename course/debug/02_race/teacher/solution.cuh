// debug/02_race, the teacher's solution.
// Cause: After its last step of a k-tile, a warp copies the next k-tile into the same shared arrays. Nothing makes it
// wait for the other warp, which may still read the old words. The one barrier stands between copying and reading.

// Fetches this thread's words of a k-tile: every THREADS-th one, counted row by row, with `width` words in a row.
// The matrix has `rows` rows and `cols` columns from `from` on. Zeros stand for what lies outside.
__device__ void fetch(float (&words)[WORDS], const float* from, std::int64_t ld, int rows, int cols, int width) {
  for (int w = 0; w < WORDS; ++w) {
    const int i = threadIdx.x + THREADS * w, row = i / width, col = i % width;
    words[w] = row < rows && col < cols ? from[row * ld + col] : 0.0f;
  }
}

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row. The contract, 02_race.cu, defines
//   TILE, TILE_K = 32, 16: a block computes TILE x TILE elements of C, in k-tiles of TILE_K steps
//   THREADS = 64: threads of a block, in one dimension
//   ROWS, COLS = 4, 4: rows and columns of C per thread
//   WORDS = 8: words of each k-tile that a thread copies
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE][TILE_K];
  __shared__ float b_tile[TILE_K][TILE];
  const int thread = threadIdx.x, x = thread % (TILE / COLS), y = thread / (TILE / COLS);
  const int tile_row = blockIdx.x / tiles_n * TILE, tile_col = blockIdx.x % tiles_n * TILE;
  a += tile_row * lda;
  b += tile_col;

  // While a k-tile is multiplied, the loads of the next one are in flight: its words go to registers first.
  float a_next[WORDS], b_next[WORDS];
  fetch(a_next, a, lda, m - tile_row, k, TILE_K);
  fetch(b_next, b, ldb, k, n - tile_col, TILE);
  float sum[ROWS][COLS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int w = 0; w < WORDS; ++w) {
      const int i = thread + THREADS * w;
      a_tile[i / TILE_K][i % TILE_K] = a_next[w];
      b_tile[i / TILE][i % TILE] = b_next[w];
    }
    __syncthreads();  // the tiles are complete
    a += TILE_K;
    b += TILE_K * ldb;
    fetch(a_next, a, lda, m - tile_row, k - first - TILE_K, TILE_K);
    fetch(b_next, b, ldb, k - first - TILE_K, n - tile_col, TILE);
    for (int i = 0; i < TILE_K; ++i) {
      float a_part[ROWS], b_part[COLS];
      for (int r = 0; r < ROWS; ++r) a_part[r] = a_tile[y + TILE / ROWS * r][i];
      for (int s = 0; s < COLS; ++s) b_part[s] = b_tile[i][x + TILE / COLS * s];
      for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
    __syncthreads();  // no thread reads them any more, so the next k-tile may overwrite them
  }

  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COLS; ++s) {
      const int row = y + TILE / ROWS * r, col = tile_col + x + TILE / COLS * s;
      if (tile_row + row >= m || col >= n) continue;
      float* const out = c + (tile_row + row) * ldc + col;
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

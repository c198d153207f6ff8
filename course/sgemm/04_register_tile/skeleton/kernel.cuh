// sgemm/04_register_tile. Hand in this file. You may change the constants; the contract says what they must fulfil.
constexpr int TILE_M = 64, TILE_N = 64;        // rows and columns of C per block
constexpr int TILE_K = 16;                     // steps of k per k-tile
constexpr int THREADS_X = 16, THREADS_Y = 16;  // threads of a block
constexpr int ROWS = TILE_M / THREADS_Y;       // rows of C per thread
constexpr int COLS = TILE_N / THREADS_X;       // columns of C per thread
constexpr int THREADS = THREADS_X * THREADS_Y;

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// The grid has one dimension. blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row.
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE_M][TILE_K];
  __shared__ float b_tile[TILE_K][TILE_N];
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int thread = threadIdx.y * THREADS_X + threadIdx.x;

  float sum[ROWS][COLS] = {};  // the compiler keeps it in registers if it knows each index
  for (int first = 0; first < k; first += TILE_K) {
    // The threads of the block copy the tiles, element after element. Outside of the matrices there are zeros.
    for (int i = thread; i < TILE_M * TILE_K; i += THREADS) {
      const int row = tile_row + i / TILE_K, step = first + i % TILE_K;
      a_tile[i / TILE_K][i % TILE_K] = row < m && step < k ? a[row * lda + step] : 0.0f;
    }
    for (int i = thread; i < TILE_K * TILE_N; i += THREADS) {
      const int step = first + i / TILE_N, col = tile_col + i % TILE_N;
      b_tile[i / TILE_N][i % TILE_N] = step < k && col < n ? b[step * ldb + col] : 0.0f;
    }
    __syncthreads();  // the tiles are complete
    // TODO: multiply the tiles. Which elements of C does this thread compute, and in which order are they multiplied?
    __syncthreads();  // no thread reads them any more
  }
  // TODO: write the results.
}

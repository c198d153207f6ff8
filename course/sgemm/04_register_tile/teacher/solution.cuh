// sgemm/04_register_tile, the teacher's solution.
constexpr int TILE_M = 64, TILE_N = 64;        // rows and columns of C per block
constexpr int TILE_K = 16;                     // steps of k per k-tile
constexpr int THREADS_X = 16, THREADS_Y = 16;  // threads of a block
constexpr int ROWS = TILE_M / THREADS_Y;       // rows of C per thread
constexpr int COLS = TILE_N / THREADS_X;       // columns of C per thread
constexpr int THREADS = THREADS_X * THREADS_Y;

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE_M][TILE_K];
  __shared__ float b_tile[TILE_K][TILE_N];
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int thread = threadIdx.y * THREADS_X + threadIdx.x;

  float sum[ROWS][COLS] = {};
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
    for (int i = 0; i < TILE_K; ++i) {
      // One column of A's tile and one row of B's go to registers, and each word of one meets each word of the other.
      float a_part[ROWS], b_part[COLS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) a_part[r] = a_tile[threadIdx.y + THREADS_Y * r][i];
#pragma unroll
      for (int s = 0; s < COLS; ++s) b_part[s] = b_tile[i][threadIdx.x + THREADS_X * s];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
    __syncthreads();  // no thread reads them any more
  }

#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int s = 0; s < COLS; ++s) {
      // A thread's columns are THREADS_X apart: neighbouring lanes have neighbouring columns, here as in shared memory.
      const int row = tile_row + threadIdx.y + THREADS_Y * r, col = tile_col + threadIdx.x + THREADS_X * s;
      if (row >= m || col >= n) continue;
      float* const out = c + row * ldc + col;
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

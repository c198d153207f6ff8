// sgemm/04_register_tile, a wrong submission: register tiles, filled from global memory.
constexpr int TILE_M = 64, TILE_N = 64;        // rows and columns of C per block
constexpr int TILE_K = 16;                     // steps of k per k-tile
constexpr int THREADS_X = 16, THREADS_Y = 16;  // threads of a block
constexpr int ROWS = TILE_M / THREADS_Y;       // rows of C per thread
constexpr int COLS = TILE_N / THREADS_X;       // columns of C per thread

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;

  float sum[ROWS][COLS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int i = 0; i < TILE_K; ++i) {
      // One column of A's tile and one row of B's go to registers, and each word of one meets each word of the other.
      float a_part[ROWS], b_part[COLS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const int row = tile_row + threadIdx.y + THREADS_Y * r, step = first + i;
        a_part[r] = row < m && step < k ? a[row * lda + step] : 0.0f;
      }
#pragma unroll
      for (int s = 0; s < COLS; ++s) {
        const int col = tile_col + threadIdx.x + THREADS_X * s, step = first + i;
        b_part[s] = step < k && col < n ? b[step * ldb + col] : 0.0f;
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
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

// sgemm/06_double_buffer, a wrong submission.
// One buffer and one barrier: the next tiles overwrite these while others read them.
constexpr int FROM_A = TILE_M * TILE_K / THREADS, FROM_B = TILE_K * TILE_N / THREADS;

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE_M][TILE_K];
  __shared__ float b_tile[TILE_K][TILE_N];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * THREADS_X + x;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;

  float a_next[FROM_A], b_next[FROM_B];
  const auto load = [&](int tile) {
#pragma unroll
    for (int p = 0; p < FROM_A; ++p) {
      const int i = thread + p * THREADS, row = tile_row + i / TILE_K, step = tile * TILE_K + i % TILE_K;
      a_next[p] = row < m && step < k ? a[row * lda + step] : 0.0f;
    }
#pragma unroll
    for (int p = 0; p < FROM_B; ++p) {
      const int i = thread + p * THREADS, step = tile * TILE_K + i / TILE_N, col = tile_col + i % TILE_N;
      b_next[p] = step < k && col < n ? b[step * ldb + col] : 0.0f;
    }
  };
  const auto store = [&](int tile) {
#pragma unroll
    for (int p = 0; p < FROM_A; ++p) {
      const int i = thread + p * THREADS;
      a_tile[i / TILE_K][i % TILE_K] = a_next[p];
    }
#pragma unroll
    for (int p = 0; p < FROM_B; ++p) {
      const int i = thread + p * THREADS;
      b_tile[i / TILE_N][i % TILE_N] = b_next[p];
    }
  };

  float sum[ROWS][COLS] = {};
  const int tiles = (k + TILE_K - 1) / TILE_K;
  if (tiles > 0) {
    load(0);
    store(0);
  }
  for (int tile = 0; tile < tiles; ++tile) {
    __syncthreads();
    const bool more = tile + 1 < tiles;
    if (more) load(tile + 1);
    for (int i = 0; i < TILE_K; ++i) {
      for (int r = 0; r < ROWS; ++r) {
        const float from_a = a_tile[y + THREADS_Y * r][i];
        for (int s = 0; s < COLS; ++s) sum[r][s] += from_a * b_tile[i][x + THREADS_X * s];
      }
    }
    if (more) store(tile + 1);
  }

  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COLS; ++s) {
      const int row = tile_row + y + THREADS_Y * r, col = tile_col + x + THREADS_X * s;
      if (row >= m || col >= n) continue;
      float* const out = c + row * ldc + col;
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

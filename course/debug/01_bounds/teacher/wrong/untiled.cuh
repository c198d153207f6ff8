// debug/01_bounds, a wrong submission.
// Right, but without tiles: each thread reads its rows and columns from global memory.

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  for (int i = threadIdx.y * THREADS_X + threadIdx.x; i < TILE_M * TILE_N; i += THREADS) {
    const int row = tile_row + i / TILE_N, col = tile_col + i % TILE_N;
    if (row >= m || col >= n) continue;
    float sum = 0.0f;
    for (int j = 0; j < k; ++j) sum += a[row * lda + j] * b[j * ldb + col];
    float* const out = c + row * ldc + col;
    *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
  }
}

// debug/05_wrong_reduction, a wrong submission.
// Right, but without slices: some threads compute one element each, and the others nothing.

template <bool ALIGNED>
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  const int tile_row = blockIdx.x / tiles_n * ROWS, tile_col = blockIdx.x % tiles_n * COLS;
  for (int i = threadIdx.y * COLS + threadIdx.x; i < ROWS * COLS; i += COLS * SLICES) {
    const int row = tile_row + i / COLS, col = tile_col + i % COLS;
    if (row >= m || col >= n) continue;
    float sum = 0.0f;
    for (int j = 0; j < k; ++j) sum += a[row * lda + j] * b[j * ldb + col];
    float* const out = c + row * ldc + col;
    *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
  }
}

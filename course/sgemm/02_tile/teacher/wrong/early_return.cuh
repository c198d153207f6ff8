// sgemm/02_tile, a wrong submission.
// Threads outside of C leave, and then copy nothing.
constexpr int TILE = 16;

__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.x / tiles_n * TILE + y, col = blockIdx.x % tiles_n * TILE + x;
  const bool has_row = row < m, has_col = col < n;

  if (!has_row || !has_col) return;

  float sum = 0.0f;
  for (int first = 0; first < k; first += TILE) {
    float from_a = 0.0f, from_b = 0.0f;
    if (has_row && first + x < k) from_a = a[row * lda + first + x];
    if (has_col && first + y < k) from_b = b[(first + y) * ldb + col];
    a_tile[y][x] = from_a;
    b_tile[y][x] = from_b;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }

  float* const out = c + row * ldc + col;
  *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
}

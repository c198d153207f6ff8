// sgemm/05_vectorise, a wrong submission.
// The padding of A's tile is one word, so its rows are not aligned.

template <bool ALIGNED>
__device__ float4 load_four(const float* from, int count) {
  if (ALIGNED && count >= 4) return *reinterpret_cast<const float4*>(from);
  float4 four = {0.0f, 0.0f, 0.0f, 0.0f};
  if (count > 0) four.x = from[0];
  if (count > 1) four.y = from[1];
  if (count > 2) four.z = from[2];
  if (count > 3) four.w = from[3];
  return four;
}

template <bool ALIGNED>
__device__ void store_four(float* to, int count, float alpha, const float* sum, float beta) {
  if (count <= 0) return;
  float4 old = {0.0f, 0.0f, 0.0f, 0.0f};
  if (beta != 0.0f) old = load_four<ALIGNED>(to, count);
  const float4 four = {alpha * sum[0] + beta * old.x, alpha * sum[1] + beta * old.y, alpha * sum[2] + beta * old.z,
                       alpha * sum[3] + beta * old.w};
  if (ALIGNED && count >= 4) {
    *reinterpret_cast<float4*>(to) = four;
    return;
  }
  to[0] = four.x;
  if (count > 1) to[1] = four.y;
  if (count > 2) to[2] = four.z;
  if (count > 3) to[3] = four.w;
}

template <bool ALIGNED>
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  alignas(16) __shared__ float a_tile[TILE_K][TILE_M + 1];
  alignas(16) __shared__ float b_tile[TILE_K][TILE_N];
  const int thread = threadIdx.x;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int first_row = thread / 16 * 4, first_col = thread % 16 * 4;

  float sum[ROWS][COLS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int i = thread; i < TILE_M * TILE_K / 4; i += THREADS) {
      const int row = i / (TILE_K / 4), step = i % (TILE_K / 4) * 4;
      const float4 four =
          load_four<ALIGNED>(a + (tile_row + row) * lda + first + step, tile_row + row < m ? k - first - step : 0);
      a_tile[step][row] = four.x;
      a_tile[step + 1][row] = four.y;
      a_tile[step + 2][row] = four.z;
      a_tile[step + 3][row] = four.w;
    }
    for (int i = thread; i < TILE_K * TILE_N / 4; i += THREADS) {
      const int step = i / (TILE_N / 4), col = i % (TILE_N / 4) * 4;
      *reinterpret_cast<float4*>(&b_tile[step][col]) =
          load_four<ALIGNED>(b + (first + step) * ldb + tile_col + col, first + step < k ? n - tile_col - col : 0);
    }
    __syncthreads();
    for (int i = 0; i < TILE_K; ++i) {
      const float4 a_low = *reinterpret_cast<const float4*>(&a_tile[i][first_row]);
      const float4 a_high = *reinterpret_cast<const float4*>(&a_tile[i][first_row + TILE_M / 2]);
      const float4 b_four = *reinterpret_cast<const float4*>(&b_tile[i][first_col]);
      const float a_part[ROWS] = {a_low.x, a_low.y, a_low.z, a_low.w, a_high.x, a_high.y, a_high.z, a_high.w};
      const float b_part[COLS] = {b_four.x, b_four.y, b_four.z, b_four.w};
      for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < ROWS; ++r) {
    const int row = tile_row + first_row + r % 4 + r / 4 * (TILE_M / 2), col = tile_col + first_col;
    if (row < m) store_four<ALIGNED>(c + row * ldc + col, n - col, alpha, sum[r], beta);
  }
}

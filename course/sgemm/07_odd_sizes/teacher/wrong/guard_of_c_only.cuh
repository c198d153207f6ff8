// sgemm/07_odd_sizes, a wrong submission.
// Only the stores are guarded.

template <bool ALIGNED>
__device__ float4 read_four(const float* from, int count) {
  if (ALIGNED && count >= 4) return *reinterpret_cast<const float4*>(from);
  return {count > 0 ? from[0] : 0.0f, count > 1 ? from[1] : 0.0f, count > 2 ? from[2] : 0.0f,
          count > 3 ? from[3] : 0.0f};
}

template <bool ALIGNED>
__device__ void write_four(float* to, int count, float4 four) {
  if (ALIGNED && count >= 4) {
    *reinterpret_cast<float4*>(to) = four;
    return;
  }
  if (count > 0) to[0] = four.x;
  if (count > 1) to[1] = four.y;
  if (count > 2) to[2] = four.z;
  if (count > 3) to[3] = four.w;
}

__device__ void add_product(float4& sum, float from_a, float4 from_b) {
  sum.x += from_a * from_b.x;
  sum.y += from_a * from_b.y;
  sum.z += from_a * from_b.z;
  sum.w += from_a * from_b.w;
}

template <bool ALIGNED>
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float4 a_tile[TILE_M][TILE_K / 4 + 1];
  __shared__ float4 b_tile[TILE_K][TILE_N / 4];
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;

  float4 sum[ROWS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int i = threadIdx.x; i < TILE_M * TILE_K / 4; i += THREADS) {
      const int row = i / (TILE_K / 4), four = i % (TILE_K / 4);
      a_tile[row][four] = read_four<ALIGNED>(a + (tile_row + row) * lda + first + 4 * four, 4);
    }
    for (int i = threadIdx.x; i < TILE_K * TILE_N / 4; i += THREADS) {
      const int step = i / (TILE_N / 4), four = i % (TILE_N / 4);
      b_tile[step][four] = read_four<ALIGNED>(b + (first + step) * ldb + tile_col + 4 * four, 4);
    }
    __syncthreads();
    for (int i = 0; i < TILE_K / 4; ++i) {
      const float4 b0 = b_tile[4 * i][x], b1 = b_tile[4 * i + 1][x], b2 = b_tile[4 * i + 2][x],
                   b3 = b_tile[4 * i + 3][x];
      for (int r = 0; r < ROWS; ++r) {
        const float4 from_a = a_tile[y + 8 * r][i];
        add_product(sum[r], from_a.x, b0);
        add_product(sum[r], from_a.y, b1);
        add_product(sum[r], from_a.z, b2);
        add_product(sum[r], from_a.w, b3);
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < ROWS; ++r) {
    const int row = tile_row + y + 8 * r, col = tile_col + 4 * x;
    if (row >= m) continue;
    float* const to = c + row * ldc + col;
    float4 out = {alpha * sum[r].x, alpha * sum[r].y, alpha * sum[r].z, alpha * sum[r].w};
    if (beta != 0.0f) {
      const float4 old = read_four<ALIGNED>(to, n - col);
      out = {out.x + beta * old.x, out.y + beta * old.y, out.z + beta * old.z, out.w + beta * old.w};
    }
    write_four<ALIGNED>(to, n - col, out);
  }
}

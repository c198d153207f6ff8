// tensorcore/02_fragment_map, a wrong submission: B is filled by A's map: rows by group, columns by place.
constexpr int TILE_M = 64, TILE_N = 16, THREADS = 128;
constexpr int M = 16, N = 8, K = 16, LANES = 32;  // of mma.sync
constexpr int PARTS = TILE_N / N;                 // products side by side that use the same registers of A

// Element (row, col) of a matrix, or 0 where there is none.
__device__ __half element(const __half* matrix, std::int64_t ld, int rows, int cols, int row, int col) {
  return row < rows && col < cols ? matrix[row * ld + col] : __float2half(0.0f);
}

__global__ void __launch_bounds__(THREADS) hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a,
                                                 std::int64_t lda, const __half* __restrict__ b, std::int64_t ldb,
                                                 float beta, float* __restrict__ c, std::int64_t ldc, int blocks_n) {
  const int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  const int group = lane / 4, place = lane % 4;
  const int row = blockIdx.x / blocks_n * TILE_M + warp * M, col = blockIdx.x % blocks_n * TILE_N;

  float sum[PARTS][4] = {};
  for (int k0 = 0; k0 < k; k0 += K) {
    // Register i of A: rows group and group + 8 take turns, columns 8 to 15 come after columns 0 to 7.
    std::uint32_t x[4];
    for (int i = 0; i < 4; ++i) {
      const int x_row = row + group + i % 2 * 8, x_col = k0 + place * 2 + i / 2 * 8;
      x[i] = pack(element(a, lda, m, k, x_row, x_col), element(a, lda, m, k, x_row, x_col + 1));
    }
    for (int part = 0; part < PARTS; ++part) {
      // Register i of B: two rows of one column.
      std::uint32_t y[2];
      for (int i = 0; i < 2; ++i) {
        const int y_row = k0 + group + i * 8, y_col = col + part * N + place * 2;
        y[i] = pack(element(b, ldb, k, n, y_row, y_col), element(b, ldb, k, n, y_row, y_col + 1));
      }
      multiply(sum[part], x, y, sum[part]);
    }
  }

  for (int part = 0; part < PARTS; ++part) {
    for (int i = 0; i < 4; ++i) {
      const int c_row = row + group + i / 2 * 8, c_col = col + part * N + place * 2 + i % 2;
      if (c_row >= m || c_col >= n) continue;
      float* const out = c + c_row * ldc + c_col;
      *out = beta == 0.0f ? alpha * sum[part][i] : alpha * sum[part][i] + beta * *out;
    }
  }
}

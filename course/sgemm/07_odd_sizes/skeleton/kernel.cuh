// sgemm/07_odd_sizes. Hand in this file.

// One step of k, for four columns of C.
__device__ void add_product(float4& sum, float from_a, float4 from_b) {
  sum.x += from_a * from_b.x;
  sum.y += from_a * from_b.y;
  sum.z += from_a * from_b.z;
  sum.w += from_a * from_b.w;
}

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row. The contract, 07_odd_sizes.cu, defines
//   TILE_M, TILE_N, TILE_K = 32, 64, 32: rows and columns of C per block, and steps of k per k-tile
//   THREADS = 128: threads of a block
//   ROWS, COLS = 4, 4: rows and columns of C per thread
// ALIGNED: in all three matrices each row starts at a multiple of 16 bytes. n and k are still any numbers.
//
// TODO: this kernel is right only if m, n and k are multiples of the tile, rows are packed, alpha is 1 and beta is 0.
template <bool ALIGNED>
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  // Four words each: a_tile[i][j] is row i, steps 4 j to 4 j + 3; b_tile[i][j] is step i, columns 4 j to 4 j + 3.
  __shared__ float4 a_tile[TILE_M][TILE_K / 4 + 1];
  __shared__ float4 b_tile[TILE_K][TILE_N / 4];
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int x = threadIdx.x % 16,
            y = threadIdx.x / 16;  // the thread's columns: 4 x to 4 x + 3; its rows: y, y + 8, ...

  float4 sum[ROWS] = {};
  for (int first = 0; first < k; first += TILE_K) {
    for (int i = threadIdx.x; i < TILE_M * TILE_K / 4; i += THREADS) {
      const int row = i / (TILE_K / 4), four = i % (TILE_K / 4);
      a_tile[row][four] = *reinterpret_cast<const float4*>(a + (tile_row + row) * k + first + 4 * four);
    }
    for (int i = threadIdx.x; i < TILE_K * TILE_N / 4; i += THREADS) {
      const int step = i / (TILE_N / 4), four = i % (TILE_N / 4);
      b_tile[step][four] = *reinterpret_cast<const float4*>(b + (first + step) * n + tile_col + 4 * four);
    }
    __syncthreads();
    for (int i = 0; i < TILE_K / 4; ++i) {  // four steps at a time
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
    *reinterpret_cast<float4*>(c + (tile_row + y + 8 * r) * n + tile_col + 4 * x) = sum[r];
  }
}

// tensorcore/03_split, a wrong submission: B's rest is forgotten.
constexpr int TILE = 32, THREADS = 128;
constexpr int STEP = 16, LANES = 32;
constexpr int WARPS_N = TILE / STEP;  // warps side by side in a block
constexpr int PAD = 8;                // moves the rows of a fragment to different banks
constexpr int A_ROW = STEP + PAD, B_ROW = TILE + PAD;
constexpr float SCALE = 2048.0f;  // 2^11: the rest begins 11 bits below the number

// value = high + low / SCALE, with 22 bits.
__device__ void split(float value, __half& high, __half& low) {
  high = __float2half(value);
  low = __float2half((value - __half2float(high)) * SCALE);
}

// A tile of ROWS x COLS numbers, split, to shared memory. `rows` x `cols` exist, the others become 0.
template <int ROWS, int COLS, int TO_ROW>
__device__ void copy_tile(__half* high, __half* low, const float* from, std::int64_t ld, int rows, int cols) {
  for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) {
    const int row = i / COLS, col = i % COLS, to = row * TO_ROW + col;
    split(row < rows && col < cols ? from[row * ld + col] : 0.0f, high[to], low[to]);
  }
}

__global__ void __launch_bounds__(THREADS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int blocks_n) {
  __shared__ __align__(32) __half a_high[TILE * A_ROW], a_low[TILE * A_ROW], b_high[STEP * B_ROW], b_low[STEP * B_ROW];
  __shared__ __align__(32) float results[THREADS / LANES][STEP * STEP];
  const int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  const int tile_row = blockIdx.x / blocks_n * TILE, tile_col = blockIdx.x % blocks_n * TILE;
  const int warp_row = warp / WARPS_N * STEP, warp_col = warp % WARPS_N * STEP;

  // The correction is SCALE times too large, so it needs a sum of its own.
  wmma::fragment<wmma::accumulator, STEP, STEP, STEP, float> sum, correction;
  wmma::fill_fragment(sum, 0.0f);
  wmma::fill_fragment(correction, 0.0f);
  for (int k0 = 0; k0 < k; k0 += STEP) {
    copy_tile<TILE, STEP, A_ROW>(a_high, a_low, a + tile_row * lda + k0, lda, m - tile_row, k - k0);
    copy_tile<STEP, TILE, B_ROW>(b_high, b_low, b + k0 * ldb + tile_col, ldb, k - k0, n - tile_col);
    __syncthreads();  // the tiles are complete
    wmma::fragment<wmma::matrix_a, STEP, STEP, STEP, __half, wmma::row_major> x_high, x_low;
    wmma::fragment<wmma::matrix_b, STEP, STEP, STEP, __half, wmma::row_major> y_high, y_low;
    wmma::load_matrix_sync(x_high, a_high + warp_row * A_ROW, A_ROW);
    wmma::load_matrix_sync(x_low, a_low + warp_row * A_ROW, A_ROW);
    wmma::load_matrix_sync(y_high, b_high + warp_col, B_ROW);
    wmma::load_matrix_sync(y_low, b_low + warp_col, B_ROW);
    wmma::mma_sync(correction, x_low, y_high, correction);
    wmma::mma_sync(sum, x_high, y_high, sum);
    __syncthreads();  // all warps have read them
  }

  // Two fragments of a kind have the same element in the same place.
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] += correction.x[i] / SCALE;
  wmma::store_matrix_sync(results[warp], sum, STEP, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < STEP * STEP; i += LANES) {
    const int row = tile_row + warp_row + i / STEP, col = tile_col + warp_col + i % STEP;
    if (row >= m || col >= n) continue;
    float* const out = c + row * ldc + col;
    *out = beta == 0.0f ? alpha * results[warp][i] : alpha * results[warp][i] + beta * *out;
  }
}

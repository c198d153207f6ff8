// tensorcore/01_wmma, a wrong submission: it multiplies on the FP32 cores, where no FMA is
// counted, and once more on the Tensor Cores.
constexpr int TILE_M = 64, TILE_N = 32, THREADS = 256;
constexpr int STEP = 16, LANES = 32;
constexpr int WARPS_N = TILE_N / STEP;  // warps side by side in a block
constexpr int PAD = 8;                  // moves the rows of a fragment to different banks
constexpr int A_ROW = STEP + PAD, B_ROW = TILE_N + PAD;

// A tile of ROWS x COLS elements to shared memory, of which `rows` x `cols` exist. The others become 0.
template <int ROWS, int COLS, int TO_ROW>
__device__ void copy_tile(__half* to, const __half* from, std::int64_t ld, int rows, int cols) {
  for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) {
    const int row = i / COLS, col = i % COLS;
    to[row * TO_ROW + col] = row < rows && col < cols ? from[row * ld + col] : __float2half(0.0f);
  }
}

__global__ void __launch_bounds__(THREADS) hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a,
                                                 std::int64_t lda, const __half* __restrict__ b, std::int64_t ldb,
                                                 float beta, float* __restrict__ c, std::int64_t ldc, int blocks_n) {
  __shared__ __align__(32) __half as[TILE_M * A_ROW], bs[STEP * B_ROW];
  __shared__ __align__(32) float results[THREADS / LANES][STEP * STEP];
  const int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  const int tile_row = blockIdx.x / blocks_n * TILE_M, tile_col = blockIdx.x % blocks_n * TILE_N;
  const int warp_row = warp / WARPS_N * STEP, warp_col = warp % WARPS_N * STEP;

  wmma::fragment<wmma::accumulator, STEP, STEP, STEP, float> idle;
  wmma::fill_fragment(idle, 0.0f);
  for (int i = lane; i < STEP * STEP; i += LANES) results[warp][i] = 0.0f;
  for (int k0 = 0; k0 < k; k0 += STEP) {
    copy_tile<TILE_M, STEP, A_ROW>(as, a + tile_row * lda + k0, lda, m - tile_row, k - k0);
    copy_tile<STEP, TILE_N, B_ROW>(bs, b + k0 * ldb + tile_col, ldb, k - k0, n - tile_col);
    __syncthreads();  // the tiles are complete
    for (int i = lane; i < STEP * STEP; i += LANES) {
      const int row = i / STEP, col = i % STEP;
      for (int step = 0; step < STEP; ++step) {
        results[warp][i] = __fadd_rn(results[warp][i], __fmul_rn(__half2float(as[(warp_row + row) * A_ROW + step]),
                                                                 __half2float(bs[step * B_ROW + warp_col + col])));
      }
    }
    wmma::fragment<wmma::matrix_a, STEP, STEP, STEP, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, STEP, STEP, STEP, __half, wmma::row_major> y;
    wmma::load_matrix_sync(x, as + warp_row * A_ROW, A_ROW);
    wmma::load_matrix_sync(y, bs + warp_col, B_ROW);
    wmma::mma_sync(idle, x, y, idle);
    __syncthreads();  // all warps have read them
  }

  __syncwarp();
  for (int i = lane; i < STEP * STEP; i += LANES) {
    const int row = tile_row + warp_row + i / STEP, col = tile_col + warp_col + i % STEP;
    if (row >= m || col >= n) continue;
    float* const out = c + row * ldc + col;
    *out = beta == 0.0f ? alpha * results[warp][i] : alpha * results[warp][i] + beta * *out;
  }
}

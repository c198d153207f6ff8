// debug/05_wrong_reduction, a wrong submission.
// All slices add the remaining steps, so these are counted eight times.

// Four neighbouring elements of a row, of which `count` exist. Zeros stand for the others.
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

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// ALIGNED: each row of A starts at a multiple of 16 bytes.
// blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row.
// The contract, 05_wrong_reduction.cu, defines
//   ROWS, COLS = 4, 32: rows and columns of C per block
//   SLICES = 8: warps of a block, which share the steps of k; threadIdx.x is the column, threadIdx.y the slice
//   STEPS = 4: steps of k that a warp takes at once
template <bool ALIGNED>
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float part[SLICES][ROWS][COLS];  // of each element, the sum over one slice's steps
  const int x = threadIdx.x, slice = threadIdx.y;
  const int tile_row = blockIdx.x / tiles_n * ROWS, col = blockIdx.x % tiles_n * COLS + x;

  // The block takes SLICES * STEPS steps at once: slice 0 the first STEPS of them, slice 1 the next ones, and so on.
  float sum[ROWS] = {};
  for (int first = 0; first + SLICES * STEPS <= k; first += SLICES * STEPS) {
    const int step = first + STEPS * slice;
    float b_part[STEPS];
    for (int i = 0; i < STEPS; ++i) b_part[i] = col < n ? b[(step + i) * ldb + col] : 0.0f;
    for (int r = 0; r < ROWS; ++r) {
      const int row = tile_row + r;
      const float4 a_part = load_four<ALIGNED>(a + row * lda + step, row < m ? STEPS : 0);
      sum[r] += a_part.x * b_part[0];
      sum[r] += a_part.y * b_part[1];
      sum[r] += a_part.z * b_part[2];
      sum[r] += a_part.w * b_part[3];
    }
  }

  if (col < n) {
    for (int step = k / (SLICES * STEPS) * (SLICES * STEPS); step < k; ++step) {
      for (int r = 0; r < ROWS; ++r) {
        if (tile_row + r < m) sum[r] += a[(tile_row + r) * lda + step] * b[step * ldb + col];
      }
    }
  }

  // Sums of two slices become one, until slice 0 has them all.
  for (int r = 0; r < ROWS; ++r) part[slice][r][x] = sum[r];
  __syncthreads();
  for (int half = SLICES / 2; half > 0; half /= 2) {
    if (slice < half) {
      for (int r = 0; r < ROWS; ++r) part[slice][r][x] += part[slice + half][r][x];
    }
    __syncthreads();
  }

  // Each of the first ROWS warps writes one row of C.
  const int row = tile_row + slice;
  if (slice >= ROWS || row >= m || col >= n) return;
  float* const out = c + row * ldc + col;
  *out = beta == 0.0f ? alpha * part[0][slice][x] : alpha * part[0][slice][x] + beta * *out;
}

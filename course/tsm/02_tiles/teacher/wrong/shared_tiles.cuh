// tsm/02_tiles, a wrong submission: tiles in shared memory, and one element per thread.
constexpr int TM = 1, TN = 1;
constexpr int STEPS = 8;

__global__ void tsmttsm(int m, int n, std::int64_t k, double alpha, const double* __restrict__ a, std::int64_t lda,
                        const double* __restrict__ b, std::int64_t ldb, double* __restrict__ c, std::int64_t ldc) {
  __shared__ double all_of_a[2048], all_of_b[2048];
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int height = blockDim.y, width = blockDim.x, threads = height * width, first_row = blockIdx.y * height,
            first_col = blockIdx.x * width;
  double *const a_tile = all_of_a + z * STEPS * height, *const b_tile = all_of_b + z * STEPS * width;
  const std::int64_t slices = gridDim.z * blockDim.z;

  double sum = 0.0;
  for (std::int64_t begin = blockIdx.z * blockDim.z * STEPS; begin < k; begin += slices * STEPS) {
    const std::int64_t first = begin + z * STEPS;
    for (int i = y * width + x; i < STEPS * height; i += threads) {
      const int step = i / height, row = first_row + i % height;
      a_tile[i] = first + step < k && row < m ? a[(first + step) * lda + row] : 0.0;
    }
    for (int i = y * width + x; i < STEPS * width; i += threads) {
      const int step = i / width, col = first_col + i % width;
      b_tile[i] = first + step < k && col < n ? b[(first + step) * ldb + col] : 0.0;
    }
    __syncthreads();
    for (int i = 0; i < STEPS; ++i) sum += a_tile[i * height + y] * b_tile[i * width + x];
    __syncthreads();
  }
  if (first_row + y < m && first_col + x < n) atomicAdd(c + (first_row + y) * ldc + first_col + x, alpha * sum);
}

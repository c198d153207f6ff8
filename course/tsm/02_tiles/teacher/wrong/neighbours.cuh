// tsm/02_tiles, a wrong submission: right, but a thread's rows and columns are neighbours, so lanes are TN words
// apart.
constexpr int TM = 4, TN = 4;

__global__ void tsmttsm(int m, int n, std::int64_t k, double alpha, const double* __restrict__ a, std::int64_t lda,
                        const double* __restrict__ b, std::int64_t ldb, double* __restrict__ c, std::int64_t ldc) {
  const int height = blockDim.y, width = blockDim.x;
  const int row = (blockIdx.y * height + threadIdx.y) * TM, col = (blockIdx.x * width + threadIdx.x) * TN;
  const std::int64_t slice = blockIdx.z * blockDim.z + threadIdx.z, slices = gridDim.z * blockDim.z;

  double sum[TM][TN] = {};
  for (std::int64_t i = slice; i < k; i += slices) {
    double x[TM], y[TN];
#pragma unroll
    for (int r = 0; r < TM; ++r) x[r] = row + r < m ? a[i * lda + row + r] : 0.0;
#pragma unroll
    for (int s = 0; s < TN; ++s) y[s] = col + s < n ? b[i * ldb + col + s] : 0.0;
#pragma unroll
    for (int r = 0; r < TM; ++r) {
#pragma unroll
      for (int s = 0; s < TN; ++s) sum[r][s] += x[r] * y[s];
    }
  }

#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN; ++s) {
      if (row + r < m && col + s < n) atomicAdd(c + (row + r) * ldc + col + s, alpha * sum[r][s]);
    }
  }
}

// tsm/02_tiles, a wrong submission: right, but a thread has one element of C, so each FMA needs two loads.
constexpr int TM = 1, TN = 1;

// A thread's rows are blockDim.y apart and its columns blockDim.x, so lanes side by side read words side by side.
__global__ void tsmttsm(int m, int n, std::int64_t k, double alpha, const double* __restrict__ a, std::int64_t lda,
                        const double* __restrict__ b, std::int64_t ldb, double* __restrict__ c, std::int64_t ldc) {
  const int height = blockDim.y, width = blockDim.x;
  const int row = blockIdx.y * height * TM + threadIdx.y, col = blockIdx.x * width * TN + threadIdx.x;
  const std::int64_t slice = blockIdx.z * blockDim.z + threadIdx.z, slices = gridDim.z * blockDim.z;

  double sum[TM][TN] = {};
  for (std::int64_t i = slice; i < k; i += slices) {
    double x[TM], y[TN];
#pragma unroll
    for (int r = 0; r < TM; ++r) x[r] = row + r * height < m ? a[i * lda + row + r * height] : 0.0;
#pragma unroll
    for (int s = 0; s < TN; ++s) y[s] = col + s * width < n ? b[i * ldb + col + s * width] : 0.0;
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
      if (row + r * height < m && col + s * width < n)
        atomicAdd(c + (row + r * height) * ldc + col + s * width, alpha * sum[r][s]);
    }
  }
}

// tsm/02_tiles. Hand in this file.
constexpr int TM = 4, TN = 4;  // rows and columns of C that a thread has. Yours to choose, each from 1 to 16.

// C += alpha A^T B, all row-major: A is k x m, B is k x n, C is m x n. m and n are small, k is long. Element (row, col)
// of C is the sum over i of a[i * lda + row] * b[i * ldb + col]. C was multiplied by beta before.
//
// blockIdx.y and x select a part of C with TM * blockDim.y rows and TN * blockDim.x columns. threadIdx.y and x select
// one of its tiles. Slice blockIdx.z * blockDim.z + threadIdx.z of K is this thread's; there are
// gridDim.z * blockDim.z slices.
__global__ void tsmttsm(int m, int n, std::int64_t k, double alpha, const double* __restrict__ a, std::int64_t lda,
                        const double* __restrict__ b, std::int64_t ldb, double* __restrict__ c, std::int64_t ldc) {
  double sum[TM][TN] = {};
  // TODO: add up this thread's tile over its slice of K, then add the tile to C.
}

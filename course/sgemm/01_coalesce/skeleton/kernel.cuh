// sgemm/01_coalesce. Hand in this file.
constexpr int TILE = 16;  // a block is TILE x TILE threads and computes TILE x TILE elements of C

// C = alpha A B + beta C, all row-major: A is m x k, B is k x n, C is m x n, and element (i, j) of A is a[i * lda + j].
// blockIdx.x counts the tiles of C row by row; there are tiles_n of them in a row.
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  // TODO: which element of C is this thread's? Lanes of a warp differ in threadIdx.x.
}

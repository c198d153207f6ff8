// sgemm/01_coalesce. Hand in this file.
constexpr int TILE = 16;  // a block has TILE x TILE threads and computes TILE x TILE elements of C; 8, 16 or 32

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// The grid has one dimension. blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row.
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  // TODO: which tile of C does this block compute, and which element of the tile does this thread compute?
  // TODO: the last tile of a row or column may be incomplete. What must a thread outside of C do?
  // TODO: the sum over k, in a register.
  // TODO: write the result.
}

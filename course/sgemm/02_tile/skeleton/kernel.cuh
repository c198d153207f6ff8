// sgemm/02_tile. Hand in this file.
constexpr int TILE = 16;  // a block has TILE x TILE threads and computes TILE x TILE elements of C; 16 or 32

// C = alpha A B + beta C. All matrices are row-major, and the leading dimension is the distance between two rows:
//   A is m x k, its element (i, j) is a[i * lda + j], lda >= k
//   B is k x n, its element (i, j) is b[i * ldb + j], ldb >= n
//   C is m x n, its element (i, j) is c[i * ldc + j], ldc >= n
// m, n and k are any numbers, 0 too. If beta is 0, C must not be read: it may hold NaN.
// The grid has one dimension. blockIdx.x counts the tiles of C row by row; tiles_n tiles cover one row.
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __shared__ float a_tile[TILE][TILE];  // a_tile[i][j]: row i of the block's rows of A, column j of the k-tile
  __shared__ float b_tile[TILE][TILE];  // b_tile[i][j]: row i of the k-tile, column j of the block's columns of B

  float sum = 0.0f;
  for (int first = 0; first < k; first += TILE) {  // the k-tile starts at step `first` of k
    // TODO: each thread copies one element of A and one of B. What is copied where the matrices have ended?
    // TODO: multiply the tiles.
    // TODO: where does the block need a barrier, and how many?
  }
  // TODO: write the result.
}

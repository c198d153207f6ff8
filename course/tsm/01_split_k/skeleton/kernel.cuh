// tsm/01_split_k. Hand in this file.
//
// C = alpha A^T B + beta C, all row-major: A is k x m, B is k x n, C is m x n. m and n are small, k is long. Element
// (i, j) of A is a[i * lda + j], so element (row, col) of C is the sum over i of a[i * lda + row] * b[i * ldb + col].

// First kernel: C = beta C. If beta is 0, C is not read: it may hold NaN. Grid and block as below, gridDim.z is 1.
__global__ void scale(int m, int n, double beta, double* c, std::int64_t ldc) {
  // TODO
}

// Second kernel: C += alpha A^T B. A block is 16 x 16 threads. blockIdx.x and blockIdx.y select a 16 x 16 tile of C,
// x along its rows. blockIdx.z selects a chunk of K; there are gridDim.z of them.
__global__ void tsmttsm(int m, int n, std::int64_t k, double alpha, const double* a, std::int64_t lda, const double* b,
                        std::int64_t ldb, double* c, std::int64_t ldc) {
  // TODO: which element of C is this thread's, and which rows of A and B are this block's?
}

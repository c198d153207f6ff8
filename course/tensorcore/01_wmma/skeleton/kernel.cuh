// tensorcore/01_wmma. Hand in this file. The contract says: namespace wmma = nvcuda::wmma;
constexpr int TILE_M = 64, TILE_N = 32, THREADS = 256;  // a block of 8 warps has TILE_M x TILE_N elements of C
constexpr int STEP = 16;                                // rows, columns and steps of k of a fragment

// C = alpha A B + beta C, all row-major. A is m x k and B is k x n, both FP16. C is m x n, FP32. Element (i, j) of A is
// a[i * lda + j]. Rows begin at any address. blockIdx.x counts the tiles of C row by row, blocks_n in
// a row.
__global__ void __launch_bounds__(THREADS) hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a,
                                                 std::int64_t lda, const __half* __restrict__ b, std::int64_t ldb,
                                                 float beta, float* __restrict__ c, std::int64_t ldc, int blocks_n) {
  // TODO: for each 16 steps of k copy 64 x 16 of A and 16 x 32 of B to shared memory, zeros where there is no element.
  // Then each warp loads two fragments from there and multiplies them.
  // TODO: C, through shared memory, because rows of C begin anywhere and the matrix ends anywhere.
}

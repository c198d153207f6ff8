// tensorcore/02_fragment_map. Hand in this file.
//
// The contract gives you two functions:
//   std::uint32_t pack(__half low, __half high);   // two halves in one register
//   void multiply(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], const float (&c)[4]);
// multiply computes d = a b + c for A of 16 x 16, B of 16 x 8, and C of 16 x 8: mma.sync m16n8k16. All 32 lanes of a
// warp call it together, each with its own registers. d and c may be the same array.
constexpr int TILE_M = 64, TILE_N = 16, THREADS = 128;  // a block of 4 warps has TILE_M x TILE_N elements of C

// C = alpha A B + beta C, all row-major. A is m x k and B is k x n, both FP16. C is m x n, FP32. Element (i, j) of A is
// a[i * lda + j]. Rows begin at any address. blockIdx.x counts the tiles of C row by row, blocks_n in
// a row. Warp w has 16 rows of the tile, from 16 w on, and all of its 16 columns.
__global__ void __launch_bounds__(THREADS) hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a,
                                                 std::int64_t lda, const __half* __restrict__ b, std::int64_t ldb,
                                                 float beta, float* __restrict__ c, std::int64_t ldc, int blocks_n) {
  // TODO: for each 16 steps of k fill the registers of A and B from memory, element by element, and multiply.
  // TODO: store C from the registers.
}

// tensorcore/03_split. Hand in this file. The contract says: namespace wmma = nvcuda::wmma;
constexpr int TILE = 32, THREADS = 128;  // a block of 4 warps has TILE x TILE elements of C
constexpr float SCALE = 2048.0f;         // 2^11

// TODO: value should be high + low / SCALE, as nearly as two halves can say it.
__device__ void split(float value, __half& high, __half& low) {
  high = low = __float2half(0.0f);
}

// C = alpha A B + beta C, all FP32 and row-major. A is m x k, B is k x n and C is m x n. Element (i, j) of A is
// a[i * lda + j]. Rows begin at any address. blockIdx.x counts the tiles of C row by row, blocks_n in
// a row.
__global__ void __launch_bounds__(THREADS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int blocks_n) {
  // TODO: as in 01_wmma, but each number is split on its way to shared memory, and three products are needed.
}

// writes to the executor's memory by the compiler's atomic functions
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  __atomic_store_n(reinterpret_cast<long*>(0x400000 + 8 * threadIdx.x), 0l, 5);
}

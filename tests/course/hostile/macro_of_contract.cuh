// redefines what the contract calls
#define launch(...) Status::ok(); template <class T> gemm_result
#define sgemm other
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}

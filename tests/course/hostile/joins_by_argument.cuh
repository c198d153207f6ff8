// makes a forbidden word by a macro's argument and a name of its own
#define AS(x) x
#define MAKE(x) AS(x)
MAKE(a\
sm)("nop");
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}

// makes the compiler write a message of 200 MB
#define S0 "xxxxxxxxxxxxxxxx"
#define S1 S0 S0 S0 S0
#define S2 S1 S1 S1 S1
#define S3 S2 S2 S2 S2
#define S4 S3 S3 S3 S3
#define S5 S4 S4 S4 S4
#define S6 S5 S5 S5 S5
#define S7 S6 S6 S6 S6
#define S8 S7 S7 S7 S7
#define S9 S8 S8 S8 S8
#define S10 S9 S9 S9 S9
#define S11 S10 S10 S10 S10
#define S12 S11 S11 S11 S11
static_assert(false, S12);
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}

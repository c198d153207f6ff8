// has a parameter with a constructor, which runs on the host
struct Number {
  int value;
  Number(int given) : value(given) {
    for (std::uintptr_t i = 0; i < 100; ++i) *reinterpret_cast<int*>(0x400000 + 4 * i) = 0;
  }
};
constexpr int TILE = 16;
__global__ void sgemm(Number m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}

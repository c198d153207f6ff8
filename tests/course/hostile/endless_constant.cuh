// makes the compiler compute for hours
constexpr int spin(int n) {
  int sum = 0;
  for (int i = 0; i < 200000; ++i) sum = (sum + n * i) % 7;
  return sum;
}
template <int N> struct Many { static constexpr int value = spin(N) + Many<N - 1>::value; };
template <> struct Many<0> { static constexpr int value = 0; };
constexpr int TILE = Many<800>::value >= 0 ? 16 : 32;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}

// has a variable that host code computes before main begins
int attack(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += (sum ^ i) % 7;
  return sum;
}
int number = attack(1000);
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  c[0] = number;
}

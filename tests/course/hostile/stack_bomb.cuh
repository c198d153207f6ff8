// calls itself for ever
__device__ int deeper(int depth, const int* before) {
  int here[64];
  for (int i = 0; i < 64; ++i) here[i] = before[i % 8] + depth;
  return deeper(depth + 1, here) + here[depth % 64];
}
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  const int none[8] = {m, n, k};
  c[0] = deeper(n, none);
}

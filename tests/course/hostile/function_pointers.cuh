// calls what it finds by an address
__device__ int one(int i) { return i + 1; }
__device__ int two(int i) { return i + 2; }
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  int (*const all[])(int) = {one, two, one, two};
  int (*chosen)(int) = all[n % 4];
  c[0] = static_cast<float>(chosen(m));
}

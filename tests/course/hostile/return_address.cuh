// writes over the address that a function returns to
struct Trail {
  std::uintptr_t first, rest[1];
};
__device__ __noinline__ int landing(int i) { return i + 1; }
__device__ __noinline__ std::uintptr_t attack(int n) {
  Trail here;
  for (int i = 0; i < n; ++i) here.rest[i] = reinterpret_cast<std::uintptr_t>(&landing);
  return here.rest[n / 2];
}
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  if (attack(k) == 1) c[0] = 1.0f;
}

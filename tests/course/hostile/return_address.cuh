// writes over the address that a function returns to
__device__ int landing(int i) { return i + 1; }
__device__ std::uintptr_t attack(int n) {
  __shared__ std::uintptr_t* kept;
  std::uintptr_t here[2] = {1, 2};
  kept = here;
  __threadfence();
  for (int i = 2; i < 12; ++i) kept[i] = reinterpret_cast<std::uintptr_t>(&landing);
  return here[n % 2];
}
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) c[0] = attack(k);
}

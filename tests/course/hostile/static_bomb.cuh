// has 300 MB of static variables
char room[300 << 20];
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  if (m < 0) c[0] = room[k];
  if (m < 0) room[k] = 1;
}

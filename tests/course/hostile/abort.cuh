// ends the program by abort()
}
#include <stdlib.h>
namespace {
void attack() {
  abort();
}
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) attack();
}

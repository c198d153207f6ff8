// writes 200 MB to standard output and error
}
#include <algorithm>
#include <unistd.h>
namespace {
void attack() {
  for (int i = 0; i < 100 << 10; ++i) {
    char text[1024];
    std::fill(text, text + sizeof text, 'x');
    write(1, text, sizeof text);
    write(2, text, sizeof text);
  }
}
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) attack();
}

// writes a file outside, before main begins
}
#include <fcntl.h>
#include <unistd.h>
namespace {
int attack() {
  if (const int file = open("@MARK@", O_WRONLY | O_CREAT, 0600); file >= 0) return write(file, "x", 1), _exit(42), 0;
  return 0;
}
const int done = attack();
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}

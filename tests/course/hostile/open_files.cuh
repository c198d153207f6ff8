// opens 64 files, to leave none for others
}
#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
namespace {
int attack() {
  int most = 0;
  for (int i = 0; i < 64; ++i) most = std::max(most, open("/dev/null", O_RDONLY));
  if (most > 32) _exit(42);
  return 0;
}
const int done = attack();
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}

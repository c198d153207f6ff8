// opens a file in a kernel
}
#include <fcntl.h>
#include <unistd.h>
namespace {
void attack() {
  if (open("/proc/self/maps", O_RDONLY) >= 0) _exit(42);
}
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) attack();
}

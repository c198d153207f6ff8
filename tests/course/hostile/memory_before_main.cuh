// asks for 4 GB (and would use none of it) before main begins
}
#include <sys/mman.h>
#include <unistd.h>
namespace {
const bool attacked = [] {
  if (mmap(nullptr, std::size_t{4} << 30, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) _exit(42);
  return true;
}();
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}

// jumps out of a kernel, to where another thread has been
}
#include <setjmp.h>
namespace {
jmp_buf there;
#define UNSEEN __attribute__((no_sanitize("thread", "bounds"), noinline))
UNSEEN void attack() {
  static bool been = false;
  if (been) longjmp(there, 1);
  been = true;
  setjmp(there);
}
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
  attack();
}

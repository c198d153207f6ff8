// reads the judge's memory, passwords and the teacher's solution, before main begins
}
#include <fcntl.h>
#include <unistd.h>
namespace {
int attack() {
  const char* const files[] = {"/proc/self/mem", "/proc/1/environ", "/proc/1/cmdline", "/etc/shadow", "/etc/passwd",
                               "@ROOT@/course/sgemm/01_coalesce/teacher/solution.cuh", "@ROOT@/README.md"};
  for (const char* const file : files)
    if (open(file, O_RDONLY) >= 0) _exit(42);
  return 0;
}
const int done = attack();
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}

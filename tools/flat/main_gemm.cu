#pragma once

#include "tools/flat/check.cuh"

namespace program {

/// C = ALPHA A B + beta C.
double run(const Case& c) {
  using Element = std::remove_cvref_t<decltype(*gemm::Problem{}.a)>;
  Matrix<Element> a(c.m, c.k, c, 1), b(c.k, c.n, c, 2);
  Matrix<float> out(c.m, c.n, c, c.adds ? 3 : 0);
  gemm::Problem p{.m = c.m, .n = c.n, .k = c.k, .alpha = ALPHA, .a = a.data, .lda = a.ld, .b = b.data, .ldb = b.ld};
  p.beta = c.adds ? BETA : 0, p.c = out.data, p.ldc = out.ld;
@workspace@
  return check(c, a, false, false, b, out, [&] { return info.launch(p, 0); });
}

}  // namespace program

int main() {
  using program::run;
  try {
    // Sizes that no tile divides, and some that many divide; numbers that are whole, and others; beta that is 0.
    run({.m = 77, .n = 131, .k = 45, .pad = 3});
    run({.m = 131, .n = 77, .k = 613, .whole = false});
    run({.m = 256, .n = 128, .k = 1024, .pad = 4, .adds = false});
    constexpr int N = 4096;
    const double ms = run({.m = N, .n = N, .k = N, .adds = false, .timed = true});
    std::printf("PASS @id@, %d x %d x %d: %.4f ms, %.1f GFLOP/s\n", N, N, N, ms, 2e-6 * N * N * N / ms);
  } catch (const std::exception& error) {
    std::printf("FAIL @id@, %s\n", error.what());
    return 1;
  }
}

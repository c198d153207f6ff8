#pragma once

#include "tools/flat/check.cuh"

namespace program {

/// B = ALPHA A C + beta B.
template <class T>
double run(const Case& c) {
  constexpr bool is_complex = sizeof(T) == sizeof(double2);
  Matrix<T> a(c.k, c.m, c, 1), small(c.m, c.n, c, 2), out(c.k, c.n, c, c.adds ? 3 : 0);
  gemm::TsmmProblem<T> p{.m = c.m, .n = c.n, .k = c.k, .a = a.data, .lda = a.ld, .c = small.data};
  p.ldc = small.ld, p.beta = narrow<T>({c.adds ? BETA : 0, 0}), p.b = out.data, p.ldb = out.ld;
  p.alpha = narrow<T>({ALPHA, ALPHA_IMAG});
@workspace@
  return check(c, a, false, false, small, out, [&] {
    if constexpr (is_complex)
      return info.launch.z(p, 0);
    else
      return info.launch.d(p, 0);
  });
}

}  // namespace program

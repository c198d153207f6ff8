#pragma once

#include "tools/flat/check.cuh"

namespace program {

/// C = ALPHA A^T B + beta C, or with A^H of complex numbers.
template <class T>
double run(const Case& c) {
  constexpr bool is_complex = sizeof(T) == sizeof(double2);
  Matrix<T> a(c.k, c.m, c, 1), b(c.k, c.n, c, 2), out(c.m, c.n, c, c.adds ? 3 : 0);
  gemm::TsmttsmProblem<T> p{.m = c.m, .n = c.n, .k = c.k, .a = a.data, .lda = a.ld, .b = b.data};
  p.ldb = b.ld, p.beta = narrow<T>({c.adds ? BETA : 0, 0}), p.c = out.data, p.ldc = out.ld, p.conjugate = is_complex;
  p.alpha = narrow<T>({ALPHA, ALPHA_IMAG});
@workspace@
  return check(c, a, true, is_complex, b, out, [&] {
    if constexpr (is_complex)
      return info.launch.z(p, 0);
    else
      return info.launch.d(p, 0);
  });
}

}  // namespace program

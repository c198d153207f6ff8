// Tall & skinny problems for tests.
#pragma once

#include "common/check/workbench.hpp"

namespace gemm {

inline ProblemSpec tall(Operation op, Type type, int m, int n, std::int64_t k) {
  ProblemSpec spec;
  spec.op = op;
  spec.type = type;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  return spec;
}

/// Nothing is round, and of complex problems nothing real.
inline ProblemSpec awkward(ProblemSpec spec) {
  spec.lda = spec.m + 3;
  spec.ldb = spec.n + 5;
  spec.ldc = spec.n + 1;
  spec.offset = 1;
  spec.alpha = 1.5;
  spec.beta = -0.5;
  if (spec.type == Type::c64) {
    spec.alpha_imag = 0.25;
    spec.beta_imag = 0.75;
    spec.conjugate = spec.op == Operation::tsmttsm;
  }
  return spec;
}

}  // namespace gemm

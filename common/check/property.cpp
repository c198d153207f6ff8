#include "common/check/property.hpp"

namespace gemm {

ProblemSpec box(int m, int n, int k) {
  ProblemSpec spec;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  return spec;
}

ProblemSpec tall(Operation op, Type type, int m, int n, std::int64_t k) {
  ProblemSpec spec;
  spec.op = op;
  spec.type = type;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  return spec;
}

ProblemSpec scaled(ProblemSpec spec, double alpha, double beta) {
  spec.alpha = alpha;
  spec.beta = beta;
  return spec;
}

ProblemSpec awkward(ProblemSpec spec) {
  spec.lda = spec.row_a() + 3;
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

ProblemSpec awkward(int m, int n, int k) {
  return awkward(box(m, n, k));
}

ProblemSpec ragged(const Stage& stage, Type type) {
  const bool gemm = stage.op == Operation::gemm;
  // A generating stage has the kernel for these widths already (./lab run), and another one takes seconds to compile.
  const int wide = stage.generated ? 16 : 13;
  ProblemSpec spec = gemm ? box(131, 71, 67) : tall(stage.op, type, stage.generated ? 16 : 7, wide, 301);
  spec.type = type;
  spec = awkward(spec);
  constexpr int widest = 256;  // of all tiles
  spec.lda = spec.row_a() + widest + 3;
  spec.ldb = spec.n + widest + 5;
  spec.ldc = spec.n + widest + 1;
  return spec;
}

}  // namespace gemm

#include "common/problem/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/kernel/status.hpp"
#include "common/problem/names.hpp"

namespace gemm {

double ProblemSpec::compulsory_bytes() const {
  const double terms = 1.0 * batch * static_cast<double>(k);
  const double mk = m * terms, kn = n * terms, mn = 1.0 * batch * m * n;
  const double result = op == Operation::tsmm ? kn : mn, operands = mk + kn + mn - result;
  return static_cast<double>(size_of(type)) * reads_operands() * operands +
         static_cast<double>(size_of(result_of(type))) * result * (reads_result() ? 2 : 1);
}

bool ProblemSpec::is_plain() const {
  const auto tight = [](std::int64_t ld, std::int64_t row) { return ld == 0 || ld == std::max<std::int64_t>(row, 1); };
  return !conjugate && tight(lda, row_a()) && tight(ldb, n) && tight(ldc, n) && alpha == 1 && beta == 0 &&
         alpha_imag == 0 && beta_imag == 0 && offset == 0 && distribution == Distribution::uniform && !kernel.any();
}

void ProblemSpec::validate() const {
  if (m < 0 || n < 0 || k < 0)
    throw UsageError(fmt::format("sizes can't be negative: m = {}, n = {}, k = {}", m, n, k));
  if (op == Operation::gemm && k > std::numeric_limits<int>::max())
    throw UsageError(fmt::format("k = {} is too large for a matrix product that is not tall and skinny", k));
  if (batch < 0) throw UsageError(fmt::format("a batch can't have {} products", batch));
  if (batch != 1 && (op != Operation::gemm || type != Type::f32))
    throw UsageError("only products of FP32 matrices come in batches here");
  for (const double x : {alpha, alpha_imag, beta, beta_imag}) {
    const bool fits = std::isfinite(result_of(type) == Type::f32 ? static_cast<double>(static_cast<float>(x)) : x);
    if (!fits) throw UsageError(fmt::format("alpha and beta must be finite, not {}", x));
  }
  if (type != Type::c64 && (alpha_imag != 0 || beta_imag != 0))
    throw UsageError("alpha and beta have an imaginary part only in complex problems");
  if (type == Type::f16 && (distribution == Distribution::tiny || distribution == Distribution::huge))
    throw UsageError("numbers of this distribution are beyond what FP16 can hold");
  if (conjugate && (type != Type::c64 || op != Operation::tsmttsm))
    throw UsageError("only A of a complex TSMTTSM can be conjugated");
  if (offset < 0 || offset > 1024)
    throw UsageError(fmt::format("the offset must be 0 to 1024 elements, not {}", offset));
  const auto check = [](const char* name, std::int64_t ld, std::int64_t row) {
    if (ld != 0 && ld < std::max<std::int64_t>(row, 1))
      throw UsageError(fmt::format("{} = {} is below the row's length {}", name, ld, row));
  };
  check("lda", lda, row_a());
  check("ldb", ldb, n);
  check("ldc", ldc, n);
}

std::string describe(const ProblemSpec& spec) {
  const auto scalar = [&](double real, double imag) {
    return spec.type == Type::c64 ? fmt::format("{:g}{:+g}i", real, imag) : fmt::format("{:g}", real);
  };
  std::string text;
  if (spec.op != Operation::gemm || spec.type != Type::f32)
    text += fmt::format("{} in {}{}, ", operation_name(spec.op), type_name(spec.type), spec.conjugate ? ", A^H" : "");
  if (spec.batch != 1) text += fmt::format("{} times ", spec.batch);
  text += fmt::format("M x N x K = {} x {} x {}, alpha {}, beta {}", spec.m, spec.n, spec.k,
                      scalar(spec.alpha, spec.alpha_imag), scalar(spec.beta, spec.beta_imag));
  if (spec.lda || spec.ldb || spec.ldc) {
    text += fmt::format(", ld {}/{}/{}", spec.row_stride_a(), spec.row_stride_b(), spec.row_stride_c());
  }
  if (spec.offset) text += fmt::format(", offset {}", spec.offset);
  return text + ", " + distribution_name(spec.distribution);
}

Problem ProblemSpec::problem() const {
  Problem problem;
  problem.op = op;
  problem.type = type;
  problem.conjugate = conjugate;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.alpha = {alpha, alpha_imag};
  problem.beta = {beta, beta_imag};
  problem.ldx = row_stride_a();
  problem.ldy = op == Operation::tsmm ? row_stride_c() : row_stride_b();
  problem.ldout = op == Operation::tsmm ? row_stride_b() : row_stride_c();
  problem.kernel = kernel;
  problem.batch = batch;
  problem.stride_x = problem.m * problem.ldx;
  problem.stride_y = problem.k * problem.ldy;
  problem.stride_out = problem.m * problem.ldout;
  return problem;
}

}  // namespace gemm

#include "common/check/far_offsets.hpp"

#include <cuda_fp16.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "common/backend/named_matrix.hpp"
#include "common/check/stage_run.hpp"

namespace gemm {
namespace {

// Small whole numbers, which FP16 has, too; all sums of their products are exact.
double number(std::int64_t row, std::int64_t col, int salt) {
  return static_cast<double>((row * 7 + col * 5 + salt) % 9 - 4);
}

template <class Real>
class FarMatrix {
 public:
  FarMatrix(const char* name, std::int64_t rows, std::int64_t cols, bool far) {
    // A third of the rows begin behind 2^31 elements. Whole vectors, so that kernels take their paths of whole tiles.
    const std::int64_t apart = ((std::int64_t{3} << 30) / rows + 31) / 32 * 32;
    place_ = {name, nullptr, rows, cols, far ? apart : cols, sizeof(Real)};
    there_ = allocate_sparse(place_);
  }
  ~FarMatrix() {
    if (there_) cudaFree(const_cast<void*>(place_.first));
  }
  FarMatrix(const FarMatrix&) = delete;
  FarMatrix& operator=(const FarMatrix&) = delete;

  bool there() const { return there_; }
  const void* data() const { return place_.first; }
  std::int64_t ld() const { return place_.ld; }
  Real& at(std::int64_t row, std::int64_t col) const {
    return static_cast<Real*>(const_cast<void*>(place_.first))[row * place_.ld + col];
  }
  void fill(int salt) const {
    for (std::int64_t row = 0; row < place_.rows; ++row) {
      std::array<Real, 256> numbers;
      for (std::int64_t col = 0; col < place_.cols; ++col) numbers[col] = static_cast<Real>(number(row, col, salt));
      cudaMemcpy(&at(row, 0), numbers.data(), place_.cols * sizeof(Real), cudaMemcpyHostToDevice);
    }
  }

 private:
  NamedMatrix place_;
  bool there_ = false;
};

template <class Real, class Result>
std::optional<std::string> solve(const Stage& stage, int far) {
  const bool gemm = stage.op == Operation::gemm, tsmm = stage.op == Operation::tsmm;
  Problem p;
  p.op = stage.op;
  p.type = sizeof(Real) == 2 ? Type::f16 : sizeof(Real) == 4 ? Type::f32 : Type::f64;
  p.m = gemm ? 192 : 16;
  p.n = gemm ? 128 : 16;
  p.k = gemm ? 24 : 96;
  FarMatrix<Real> x("A", gemm ? p.m : p.k, gemm ? p.k : p.m, far == 0);
  FarMatrix<Real> y(tsmm ? "C" : "B", tsmm ? p.m : p.k, p.n, far == 1);
  FarMatrix<Result> out(tsmm ? "B" : "C", p.rows(), p.n, far == 2);
  if (!x.there() || !y.there() || !out.there()) return std::nullopt;
  x.fill(1);
  y.fill(2);
  out.fill(3);
  p.alpha = {2};
  p.beta = {-1};
  p.x = x.data();
  p.ldx = x.ld();
  p.y = y.data();
  p.ldy = y.ld();
  p.out = const_cast<void*>(out.data());
  p.ldout = out.ld();
  p.stride_x = p.m * p.ldx;
  p.stride_y = p.k * p.ldy;
  p.stride_out = p.m * p.ldout;
  const std::string where = fmt::format("{} x {} x {}, {} of {}", p.m, p.n, p.k,
                                        far == 0             ? "lda"
                                        : (far == 1) != tsmm ? "ldb"
                                                             : "ldc",
                                        far == 0   ? x.ld()
                                        : far == 1 ? y.ld()
                                                   : out.ld());
  const StageRun run = run_apart(contender(stage), p, true);
  const Status& launched = run.status;
  if (!run.ended.empty()) return fmt::format("{}: {}", where, run.ended);
  if (launched.code == Status::Code::unsupported) return "";
  if (!launched) return fmt::format("launch failed at {}: {}", where, launched.reason);
  if (!run.observation.defects.empty()) return fmt::format("{}: {}", where, run.observation.defects.front());
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (std::int64_t t = 0; t < p.terms(); ++t)
        sum += (p.op == Operation::tsmttsm ? number(t, i, 1) : number(i, t, 1)) * number(t, j, 2);
      const double right = 2 * sum - number(i, j, 3), got = static_cast<double>(out.at(i, j));
      if (got != right) return fmt::format("{}: element ({}, {}) is {}, should be {}", where, i, j, got, right);
    }
  }
  return "";
}

}  // namespace

std::optional<std::string> wrong_far_offset(const Stage& stage) {
  std::optional<std::string> all;
  for (const int far : {0, 1, 2}) {
    const auto wrong = stage.type == Type::f16   ? solve<__half, float>(stage, far)
                       : stage.type == Type::f32 ? solve<float, float>(stage, far)
                                                 : solve<double, double>(stage, far);
    if (!wrong) continue;
    all = wrong;
    if (!wrong->empty()) break;
  }
  return all;
}

}  // namespace gemm

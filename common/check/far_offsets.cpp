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

// The matrices' rows as they lie, one below the other: of a batch, with rows between one matrix and the next.
struct Batch {
  int count = 1;
  std::int64_t between = 0;
};

template <class Real, class Result>
std::optional<std::string> solve(const Stage& stage, int far, Batch batch = {}) {
  const bool gemm = stage.op == Operation::gemm, tsmm = stage.op == Operation::tsmm;
  Problem p;
  p.op = stage.op;
  p.type = sizeof(Real) == 2 ? Type::f16 : sizeof(Real) == 4 ? Type::f32 : Type::f64;
  p.m = gemm ? 192 : 16;
  p.n = gemm ? 128 : 16;
  p.k = gemm ? 24 : 96;
  // From one matrix of a batch to the next.
  const std::int64_t x_rows = (gemm ? p.m : p.k) + batch.between, y_rows = (tsmm ? p.m : p.k) + batch.between,
                     out_rows = p.rows() + batch.between;
  FarMatrix<Real> x("A", batch.count * x_rows, gemm ? p.k : p.m, far == 0);
  FarMatrix<Real> y(tsmm ? "C" : "B", batch.count * y_rows, p.n, far == 1);
  FarMatrix<Result> out(tsmm ? "B" : "C", batch.count * out_rows, p.n, far == 2);
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
  p.batch = batch.count;
  p.stride_x = x_rows * p.ldx;
  p.stride_y = y_rows * p.ldy;
  p.stride_out = out_rows * p.ldout;
  const std::string shape = fmt::format("{} x {} x {}", p.m, p.n, p.k);
  const std::string where = batch.count > 1 ? fmt::format("{} times {}, strides of {}, {} and {}", batch.count, shape,
                                                          p.stride_x, p.stride_y, p.stride_out)
                                            : fmt::format("{}, {} of {}", shape,
                                                          far == 0             ? "lda"
                                                          : (far == 1) != tsmm ? "ldb"
                                                                               : "ldc",
                                                          far == 0   ? x.ld()
                                                          : far == 1 ? y.ld()
                                                                     : out.ld());
  const StageRun run = run_apart(contender(stage), p, {.in_order = true, .counts = false});
  const Status& launched = run.status;
  if (!run.ended.empty()) return fmt::format("{}: {}", where, run.ended);
  if (launched.code == Status::Code::unsupported) return "";
  if (!launched) return fmt::format("launch failed at {}: {}", where, launched.reason);
  if (!run.observation.defects.empty()) return fmt::format("{}: {}", where, run.observation.defects.front());
  // Matrix `which` of the batch, made of factors of which one matrix begins so many rows behind the other.
  const auto value = [&](int which, std::int64_t i, std::int64_t j, std::int64_t from_x, std::int64_t from_y) {
    double sum = 0;
    for (std::int64_t t = 0; t < p.terms(); ++t) {
      const bool transposed = p.op == Operation::tsmttsm;
      const double a = number(which * from_x + (transposed ? t : i), transposed ? i : t, 1);
      sum += a * number(which * from_y + t, j, 2);
    }
    return 2 * sum - number(which * out_rows + i, j, 3);
  };
  const auto got = [&](std::int64_t row, std::int64_t col) { return static_cast<double>(out.at(row, col)); };
  const auto holds = [&](int which, std::int64_t from_x, std::int64_t from_y) {
    for (std::int64_t at = 0; at < p.rows() * p.n; ++at)
      if (got(which * out_rows + at / p.n, at % p.n) != value(which, at / p.n, at % p.n, from_x, from_y)) return false;
    return true;
  };
  for (int which = 0; which < batch.count; ++which) {
    for (std::int64_t i = 0; i < out_rows; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        const bool between = i >= p.rows();
        const double is = got(which * out_rows + i, j);
        const double right = between ? number(which * out_rows + i, j, 3) : value(which, i, j, x_rows, y_rows);
        if (is == right) continue;
        const std::string what = batch.count > 1 ? fmt::format("C({}, {}) of matrix {}", i, j, which)
                                                 : fmt::format("element ({}, {})", i, j);
        if (between)
          return fmt::format("{}: the matrices of C lie apart, and {} is written, which lies between two of them.",
                             where, what);
        const std::int64_t next_x = x_rows - batch.between, next_y = y_rows - batch.between;
        const bool of_x = holds(which, next_x, y_rows), of_y = holds(which, x_rows, next_y);
        const std::string cause =
            batch.count > 1 && (of_x || of_y || holds(which, next_x, next_y))
                ? fmt::format(
                      ". {} taken as if one matrix began where the one before ends: from one to the next it is {}.",
                      of_x   ? "A is"
                      : of_y ? "B is"
                             : "A and B are",
                      of_x   ? "stride_a"
                      : of_y ? "stride_b"
                             : "stride_a and stride_b")
                : "";
        return fmt::format("{}: {} is {}, should be {}{}", where, what, is, right, cause);
      }
    }
  }
  return "";
}

}  // namespace

std::optional<std::string> wrong_batch_stride(const Stage& stage) {
  if (!stage.batch) return std::nullopt;
  return stage.type == Type::f16 ? solve<__half, float>(stage, -1, {3, 2}) : solve<float, float>(stage, -1, {3, 2});
}

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

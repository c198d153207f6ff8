#include "common/check/infinity.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "common/check/properties.hpp"
#include "common/check/stage_run.hpp"
#include "common/check/workbench.hpp"

namespace gemm {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

void set(const float* to, float value) {
  check_cuda(cudaMemcpy(const_cast<float*>(to), &value, sizeof value, cudaMemcpyHostToDevice), "write");
}

std::vector<float> read(const float* from, std::int64_t ld, int rows, int columns) {
  std::vector<float> all((rows - 1) * ld + columns);
  check_cuda(cudaMemcpy(all.data(), from, all.size() * sizeof(float), cudaMemcpyDeviceToHost), "read");
  return all;
}

// Of sums of 41 products.
bool right(float got, double expected, double magnitude) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == static_cast<float>(expected);
  return std::abs(got - expected) <= 1e-5 * magnitude;
}

// A problem whose operands somebody changes: `what` there is in them.
std::string wrong(const Stage& stage, const ProblemSpec& spec, const char* what,
                  const std::function<void(const SgemmProblem&)>& change) {
  Workbench bench(spec);
  const SgemmProblem p = bench.problem();
  change(p);
  bench.reset_output();
  if (spec.beta != 0) set(p.c + 3 * p.ldc + 1, infinite);
  const auto before = read(p.c, p.ldc, p.m, p.n);
  const StageRun run = run_apart(contender(stage), bench.problem(), {.in_order = true, .counts = false});
  const Status& launched = run.status;
  if (!run.ended.empty()) return run.ended;
  if (!launched) return "launch failed: " + launched.reason;
  if (!run.observation.defects.empty()) return run.observation.defects.front();
  const auto a = read(p.a, p.lda, p.m, p.k), b = read(p.b, p.ldb, p.k, p.n), c = read(p.c, p.ldc, p.m, p.n);
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) {
      double sum = 0, magnitude = 0;
      for (int k = 0; k < p.k; ++k) {
        const double product = static_cast<double>(a[i * p.lda + k]) * b[k * p.ldb + j];
        sum += product;
        magnitude += std::abs(product);
      }
      const double old = spec.beta == 0 ? 0.0 : spec.beta * before[i * p.ldc + j], expected = spec.alpha * sum + old;
      if (const float got = c[i * p.ldc + j]; !right(got, expected, std::abs(spec.alpha) * magnitude + std::abs(old))) {
        return fmt::format("C({}, {}) is {}, should be {}: there is {}", i, j, got, expected, what);
      }
    }
  }
  return {};
}

// In vectors amid the others, and times zero.
void make_infinite(const SgemmProblem& p) {
  set(p.a + 3 * p.lda + 40, infinite);
  set(p.a + 66 * p.lda, std::numeric_limits<float>::quiet_NaN());
  set(p.b + 7 * p.ldb + 69, -infinite);
  set(p.b + 40 * p.ldb + 5, 0.0f);
  set(p.b + 40 * p.ldb + 12, infinite);
}
// First elements, too, which may stand in for elements outside.
void make_first_infinite(const SgemmProblem& p) {
  make_infinite(p);
  set(p.a, infinite);
  set(p.b, -infinite);
}
// A row of A, or a column of B: one number so large that the others are none beside it, but times zero they are all that
// there is.
void make_row_small(const SgemmProblem& p) {
  for (int k = 0; k < p.k; ++k) set(p.a + 10 * p.lda + k, k == 0 ? 1e18f : 1e-34f);
  set(p.b + 20, 0.0f);
}
void make_column_small(const SgemmProblem& p) {
  for (int k = 0; k < p.k; ++k) set(p.b + k * p.ldb + 20, k == 0 ? 1e18f : 1e-34f);
  set(p.a + 10 * p.lda, 0.0f);
}
// A single one, the last of its row or column.
void make_large(const SgemmProblem& p) {
  set(p.a + 5 * p.lda + 40, 1e5f);
  set(p.b + 40 * p.ldb + 9, 1e5f);
}

}  // namespace

bool has_infinity(const Stage& stage) {
  return stage.op == Operation::gemm && stage.type == Type::f32 && !stage.emulation.fp16_range;
}

std::string wrong_infinity(const Stage& stage) {
  const ProblemSpec edges = box(67, 70, 41), whole = box(128, 256, 41);
  constexpr const char* infinity = "an infinity or NaN in A and in B";
  // alpha is negative, because infinity keeps its sign alone.
  std::string found = wrong(stage, scaled(edges, -2, 0), infinity, make_first_infinite);
  if (found.empty()) found = wrong(stage, scaled(edges, -1.5, -0.5), infinity, make_first_infinite);
  if (found.empty()) found = wrong(stage, scaled(whole, -2, 0), infinity, make_infinite);
  // Split into FP16 numbers by vectors, these have no digits left.
  if (stage.emulation.fp16_products == 0 || stage.emulation.policy) {
    if (found.empty()) found = wrong(stage, whole, "1e18 beside 1e-34 in A", make_row_small);
    if (found.empty()) found = wrong(stage, whole, "1e18 beside 1e-34 in B", make_column_small);
  }
  if (found.empty()) found = wrong(stage, edges, "a number of 1e5 in A and in B", make_large);
  return found;
}

}  // namespace gemm

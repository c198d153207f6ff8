#include "common/check/infinity.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "common/check/properties.hpp"
#include "common/check/stage_run.hpp"
#include "common/check/workbench.hpp"

namespace gemm {
namespace {

void set(const float* to, float value) {
  check_cuda(cudaMemcpy(const_cast<float*>(to), &value, sizeof value, cudaMemcpyHostToDevice), "write");
}

std::vector<float> read(const float* from, std::int64_t ld, int rows, int columns) {
  std::vector<float> all((rows - 1) * ld + columns);
  check_cuda(cudaMemcpy(all.data(), from, all.size() * sizeof(float), cudaMemcpyDeviceToHost), "read");
  return all;
}

bool right(float got, double expected) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == static_cast<float>(expected);
  return std::abs(got - expected) <= 1e-4;  // sums of 41 products of numbers up to 1
}

std::string wrong_infinity(const Stage& stage, double alpha, double beta) {
  Workbench bench(scaled(box(67, 70, 41), alpha, beta));
  const SgemmProblem p = bench.problem();
  const float infinite = std::numeric_limits<float>::infinity();
  set(p.a + 3 * p.lda + 40, infinite);
  set(p.a + 66 * p.lda, std::numeric_limits<float>::quiet_NaN());
  set(p.b + 7 * p.ldb + 69, -infinite);
  set(p.b + 40 * p.ldb + 5, 0.0f);  // times infinity
  // First elements and last rows: what stands in for an element outside must count as zero.
  set(p.a, infinite);
  set(p.b, -infinite);
  set(p.b + 40 * p.ldb + 12, infinite);
  bench.reset_output();
  if (beta != 0) set(p.c + 3 * p.ldc + 1, infinite);
  const auto before = read(p.c, p.ldc, p.m, p.n);
  const StageRun run = run_apart(contender(stage), bench.problem(), true);
  const Status& launched = run.status;
  if (!run.ended.empty()) return run.ended;
  if (!launched) return "launch failed: " + launched.reason;
  if (!run.observation.defects.empty()) return run.observation.defects.front();
  const auto a = read(p.a, p.lda, p.m, p.k), b = read(p.b, p.ldb, p.k, p.n), c = read(p.c, p.ldc, p.m, p.n);
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int k = 0; k < p.k; ++k) sum += static_cast<double>(a[i * p.lda + k]) * b[k * p.ldb + j];
      const double expected = alpha * sum + (beta == 0 ? 0.0 : beta * before[i * p.ldc + j]);
      if (const float got = c[i * p.ldc + j]; !right(got, expected)) {
        return fmt::format("C({}, {}) is {}, should be {}: there is an infinity or NaN in A and in B", i, j, got,
                           expected);
      }
    }
  }
  return {};
}

}  // namespace

bool has_infinity(const Stage& stage) {
  return stage.op == Operation::gemm && stage.type == Type::f32 && !stage.emulation.fp16_range;
}

std::string wrong_infinity(const Stage& stage) {
  // alpha is negative, because infinity keeps its sign alone.
  const std::string wrong = wrong_infinity(stage, -2, 0);
  return wrong.empty() ? wrong_infinity(stage, -1.5, -0.5) : wrong;
}

}  // namespace gemm

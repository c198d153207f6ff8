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

}  // namespace

bool has_infinity(const Stage& stage) {
  return stage.op == Operation::gemm && stage.type == Type::f32 && !stage.emulation.fp16_range;
}

std::string wrong_infinity(const Stage& stage) {
  Workbench bench(box(67, 70, 41));
  const SgemmProblem p = bench.problem();
  const float infinite = std::numeric_limits<float>::infinity();
  set(p.a + 3 * p.lda + 40, infinite);
  set(p.a + 66 * p.lda, std::numeric_limits<float>::quiet_NaN());
  set(p.b + 7 * p.ldb + 69, -infinite);
  set(p.b + 40 * p.ldb + 5, 0.0f);  // times infinity
  bench.reset_output();
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
      if (const float got = c[i * p.ldc + j]; !right(got, sum))
        return fmt::format("C({}, {}) is {}, should be {}: there is an infinity or NaN in A and in B", i, j, got, sum);
    }
  }
  return {};
}

}  // namespace gemm

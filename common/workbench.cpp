#include "common/workbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace gemm {
namespace {

// Magnitudes up to this, in steps of 1/4 (see is_exact), are FP32 numbers whatever the order of summation.
constexpr double exact_limit = 0x1p22;
static_assert(max_exact_depth < exact_limit);  // a sum of K products of -1, 0 and 1

bool is_exact(const ProblemSpec& spec) {
  const auto quarters = [](float x) { return std::abs(x) <= 4.0f && x * 4.0f == std::floor(x * 4.0f); };
  return spec.distribution == Distribution::integers && quarters(spec.alpha) && quarters(spec.beta);
}

Generator generator(const ProblemSpec& spec, std::uint64_t stream) {
  // K * limit^2 stays below 2^20: room for alpha and beta up to 4.
  const int limit = std::clamp(static_cast<int>(std::sqrt(0x1p20 / std::max(spec.k, 1))), 1, 16);
  return {spec.distribution, spec.seed * 4 + stream, limit};
}

const ProblemSpec& validated(const ProblemSpec& spec) {
  spec.validate();
  return spec;
}

}  // namespace

double ProblemSpec::compulsory_bytes() const {
  const double rows = m, cols = n, inner = alpha == 0.0f ? 0 : k;
  return 4.0 * (rows * inner + inner * cols + rows * cols * (beta == 0.0f ? 1 : 2));
}

void ProblemSpec::validate() const {
  if (m < 0 || n < 0 || k < 0)
    throw UsageError(fmt::format("sizes can't be negative: m = {}, n = {}, k = {}", m, n, k));
  if (!std::isfinite(alpha) || !std::isfinite(beta))
    throw UsageError(fmt::format("alpha and beta must be finite, not {} and {}", alpha, beta));
  if (offset < 0 || offset > 1024)
    throw UsageError(fmt::format("the offset must be 0 to 1024 elements, not {}", offset));
  const auto check = [](const char* name, std::int64_t ld, int row) {
    if (ld != 0 && ld < std::max(row, 1))
      throw UsageError(fmt::format("{} = {} is below the row's length {}", name, ld, row));
  };
  check("lda", lda, k);
  check("ldb", ldb, n);
  check("ldc", ldc, n);
}

ProblemSpec with_exact_integers(ProblemSpec spec) {
  spec.distribution = Distribution::integers;
  spec.alpha = 1.0f;
  spec.beta = spec.beta == 0.0f ? 0.0f : -2.0f;
  return spec;
}

Workbench::Workbench(const ProblemSpec& spec)
    : spec_(validated(spec)),
      a_(spec.m, spec.k, spec.row_stride_a(), spec.offset),
      b_(spec.k, spec.n, spec.row_stride_b(), spec.offset),
      c_(spec.m, spec.n, spec.row_stride_c(), spec.offset) {
  if (spec_.alpha != 0.0f) {
    a_.fill(generator(spec_, 0));
    b_.fill(generator(spec_, 1));
  } else {
    // Nobody may look at A and B: whoever does gets NaN.
    a_.poison();
    b_.poison();
  }
  if (spec_.beta != 0.0f) {
    original_c_.emplace(spec_.m, spec_.n, spec_.row_stride_c(), spec_.offset);
    original_c_->fill(generator(spec_, 2));
  }
  reset_output();
  reference_ = compute_reference(problem());
  fingerprint_a_ = a_.fingerprint();
  fingerprint_b_ = b_.fingerprint();
}

SgemmProblem Workbench::problem() const {
  return {spec_.m,   spec_.n, spec_.k,    spec_.alpha, a_.data(), a_.ld(),
          b_.data(), b_.ld(), spec_.beta, c_.data(),   c_.ld(),   nullptr};
}

void Workbench::reset_output() {
  if (original_c_) {
    c_.copy_from(*original_c_);
  } else {
    c_.poison();
  }
}

Verdict Workbench::check(const Contender& contender) {
  reset_output();
  std::vector<LaunchRecord> launches;
  Status launched;
  cudaDeviceSynchronize();  // what is wrong by now is reported by the launch
  const auto begin = std::chrono::steady_clock::now();
  double launch_seconds = 0;
  const Observation observation = observe([&] {
    const LaunchLogScope scope(launches);
    launched = contender.launch(problem(), nullptr);
  });
  const auto verdict = [&] {
    if (launched.code == Status::Code::unsupported) return verdict_without_result(Outcome::skip, launched.reason);
    const std::string defect = observation.defects.empty() ? "" : observation.defects.front();
    if (!launched) {
      return verdict_without_result(Outcome::fail,
                                    "launch failed: " + launched.reason + (defect.empty() ? "" : ": " + defect));
    }
    if (!defect.empty()) return verdict_without_result(Outcome::fail, defect);
    const cudaError_t fault = cudaDeviceSynchronize();
    launch_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (fault != cudaSuccess) {
      return verdict_without_result(Outcome::fail, std::string("the kernel faulted: ") + cudaGetErrorString(fault),
                                    true);
    }
    return inspect(contender);
  };
  Verdict result = verdict();
  result.launches = std::move(launches);
  result.observation = observation;
  result.launch_seconds = launch_seconds;
  return result;
}

Verdict Workbench::inspect(const Contender& contender) const {
  Verdict verdict;
  const auto fail = [&](std::string reason) {
    verdict.outcome = Outcome::fail;
    verdict.reason = std::move(reason);
  };
  const bool exact = is_exact(spec_);
  verdict.compared = true;
  verdict.error = compare(problem(), reference_, contender.accuracy, exact);
  if (exact && verdict.error.largest > exact_limit) {
    throw UsageError(
        fmt::format("integers aren't exact at k = {}: a sum may reach {}", spec_.k, verdict.error.largest));
  }
  if (!verdict.error.passed()) {
    fail(verdict.error.reason());
  } else if (const std::int64_t words = c_.damaged_words(); words > 0) {
    fail(fmt::format("wrote {} words outside C (padding of its rows, or before or behind it)", words));
  } else if (a_.fingerprint() != fingerprint_a_ || b_.fingerprint() != fingerprint_b_) {
    fail("changed its inputs");
  }
  return verdict;
}

}  // namespace gemm

#include "common/check/workbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "common/problem/names.hpp"

namespace gemm {
namespace {

// Magnitudes up to this, in steps of 1/4 (see is_exact), are numbers of the type whatever the order of summation.
double exact_limit(Type type) {
  return result_of(type) == Type::f32 ? 0x1p22 : 0x1p51;
}
static_assert(max_exact_depth(Type::f32) < 0x1p22);  // a sum of so many products of -1, 0 and 1

bool is_exact(const ProblemSpec& spec) {
  const auto quarters = [](double x) { return std::abs(x) <= 4.0 && x * 4.0 == std::floor(x * 4.0); };
  return spec.distribution == Distribution::integers && quarters(spec.alpha) && quarters(spec.beta) &&
         quarters(spec.alpha_imag) && quarters(spec.beta_imag);
}

Generator generator(const ProblemSpec& spec, std::uint64_t stream) {
  // terms * limit^2 stays a quarter of the limit: room for alpha and beta up to 4.
  const double most = exact_limit(spec.type) / 4 / static_cast<double>(std::max<std::int64_t>(spec.terms(), 1));
  const int limit = static_cast<int>(std::clamp(std::sqrt(most), 1.0, 16.0));
  return {spec.distribution, spec.seed * 4 + stream, limit};
}

// Of a batch each matrix begins where the one before it ends: one tall matrix, for all that looks at elements alone.
Matrix matrix_a(const ProblemSpec& spec) {
  const std::int64_t rows = spec.op == Operation::gemm ? spec.m : spec.k;
  return {spec.batch * rows, spec.row_a(), spec.row_stride_a(), spec.offset, spec.type};
}
Matrix matrix_b(const ProblemSpec& spec) {
  return {spec.batch * spec.k, spec.n, spec.row_stride_b(), spec.offset, spec.type};
}
Matrix matrix_c(const ProblemSpec& spec) {
  return {std::int64_t{spec.batch} * spec.m, spec.n, spec.row_stride_c(), spec.offset, result_of(spec.type)};
}
Matrix second_operand(const ProblemSpec& spec) {
  return spec.op == Operation::tsmm ? matrix_c(spec) : matrix_b(spec);
}
Matrix result_matrix(const ProblemSpec& spec) {
  return spec.op == Operation::tsmm ? matrix_b(spec) : matrix_c(spec);
}

const ProblemSpec& validated(const ProblemSpec& spec) {
  spec.validate();
  return spec;
}

}  // namespace

ProblemSpec with_exact_integers(ProblemSpec spec) {
  spec.distribution = Distribution::integers;
  // Not 1 where the problem's are not, so that a kernel without them is seen; and where few bits are left for sums, 1.
  const bool room = spec.terms() <= max_exact_depth(spec.type) / 8;
  const bool scaled = room && spec.reads_operands() && !(spec.alpha == 1 && spec.alpha_imag == 0);
  spec.alpha_imag = scaled && spec.alpha_imag != 0;
  spec.alpha = scaled ? 3 : 1;
  spec.beta_imag = spec.beta_imag != 0;
  spec.beta = spec.reads_result() ? -2 : 0;
  return spec;
}

Workbench::Workbench(const ProblemSpec& spec, Surroundings surroundings)
    : spec_(validated(spec)), x_(matrix_a(spec)), y_(second_operand(spec)), out_(result_matrix(spec)) {
  if (surroundings == Surroundings::poison)
    fill_with_traps();
  else
    fill_with_numbers();
  reset_output();
  reference_ = compute_reference(problem());
  fingerprint_x_ = x_.fingerprint();
  fingerprint_y_ = y_.fingerprint();
}

void Workbench::fill_with_traps() {
  x_.name("A");
  y_.name(spec_.op == Operation::tsmm ? "C" : "B");
  out_.name(result_name(spec_.op));
  if (spec_.reads_operands()) {
    x_.fill(generator(spec_, 0));
    y_.fill(generator(spec_, 1));
  } else {
    // Nobody may look at them: whoever does gets NaN.
    x_.poison();
    y_.poison();
  }
  if (!spec_.reads_result()) return;
  original_.emplace(result_matrix(spec_));
  original_->fill(generator(spec_, 2));
}

void Workbench::fill_with_numbers() {
  original_.emplace(result_matrix(spec_));
  std::uint64_t stream = 0;
  for (Matrix* const matrix : {&x_, &y_, &*original_}) {
    matrix->fill(generator(spec_, stream));
    matrix->fill_around(generator(spec_, ++stream + 7));
  }
}

Problem Workbench::problem() const {
  Problem problem = spec_.problem();
  problem.x = x_.data<void>();
  problem.y = y_.data<void>();
  problem.out = out_.data<void>();
  return problem;
}

void Workbench::reset_output() {
  if (original_) {
    out_.copy_from(*original_);
    if (out_.named()) out_.forbid_reading();
  } else {
    out_.poison();
    out_.forbid_reading(fmt::format("beta is 0, so {} must not be read", result_name(spec_.op)));
  }
}

// What has been read once is not told again: anew for each launch.
void Workbench::guard_operands() const {
  const std::string why = spec_.reads_operands() ? "" : "alpha is 0, so the factors must not be read";
  for (const Matrix* const operand : {&x_, &y_}) {
    if (operand->named()) operand->forbid_reading(why);
  }
}

Verdict Workbench::check(const Contender& contender, Looking looking) {
  reset_output();
  guard_operands();
  cudaDeviceSynchronize();  // what is wrong by now is reported by the launch
  const auto begin = std::chrono::steady_clock::now();
  double launch_seconds = 0;
  StageRun run = run_apart(contender, problem(), looking);
  const Status& launched = run.status;
  const Observation& observation = run.observation;
  const auto verdict = [&] {
    if (!run.ended.empty()) return verdict_without_result(Outcome::fail, run.ended);
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
    Verdict compared = inspect_result(contender.accuracy);
    compared.policy = run.policy;
    const std::string cheated = not_by_kernel();
    // What is wrong with the result says more where nobody wrote it at all, or where it was there before.
    const bool says_more = compared.error.unwritten > 0 || (spec_.reads_result() && compared.outcome == Outcome::fail);
    if (cheated.empty() || says_more) return compared;
    compared.outcome = Outcome::fail;
    compared.reason = cheated;
    return compared;
  };
  Verdict result = verdict();
  result.launches = std::move(run.launches);
  result.observation = std::move(run.observation);
  result.launch_seconds = launch_seconds;
  result.ended = !run.ended.empty();
  return result;
}

std::string Workbench::not_by_kernel() const {
  const Problem p = problem();
  const bool stays = p.depth() == 0 && p.beta.real == 1 && p.beta.imag == 0;  // there is nothing to do
  if (stays || p.n == 0) return {};
  const auto element = static_cast<std::int64_t>(size_of(result_of(p.type)));
  const auto missing = first_not_by_kernel(p.out, p.all_rows(), static_cast<std::size_t>(p.n * element),
                                           static_cast<std::size_t>(p.ldout * element));
  if (!missing) return {};
  return fmt::format("no kernel wrote {}({}, {}): what stands there is from the host, or from an earlier launch",
                     result_name(spec_.op), *missing / (p.ldout * element), *missing % (p.ldout * element) / element);
}

Verdict Workbench::inspect(const Contender& contender) const {
  Verdict verdict = inspect_result(contender.accuracy);
  if (contender.policy) verdict.policy = contender.policy(problem());
  return verdict;
}

Verdict Workbench::inspect_result(Accuracy accuracy) const {
  Verdict verdict;
  const auto fail = [&](std::string reason) {
    verdict.outcome = Outcome::fail;
    verdict.reason = std::move(reason);
  };
  const bool exact = is_exact(spec_);
  verdict.compared = true;
  verdict.error = compare(problem(), reference_, accuracy, exact);
  verdict.error.result = result_name(spec_.op);
  if (exact && verdict.error.largest > exact_limit(spec_.type)) {
    throw UsageError(
        fmt::format("integers aren't exact at k = {}: a sum may reach {}", spec_.k, verdict.error.largest));
  }
  if (!verdict.error.passed()) {
    fail(verdict.error.reason());
  } else if (const std::int64_t words = out_.damaged_words(); words > 0) {
    fail(fmt::format("wrote {} words outside {} (padding of its rows, or before or behind it)", words,
                     result_name(spec_.op)));
  } else if (x_.fingerprint() != fingerprint_x_ || y_.fingerprint() != fingerprint_y_) {
    fail("changed its inputs");
  }
  return verdict;
}

}  // namespace gemm

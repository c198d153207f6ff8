#include "common/report/verdict.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "common/backend/device.hpp"
#include "common/measure/roofline.hpp"

namespace gemm {
namespace {

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass:
      return "pass";
    case Outcome::fail:
      return "fail";
    case Outcome::skip:
      return "skip";
  }
  return "?";
}

}  // namespace

bool ran_incorrectly_on_purpose(const Result& result) {
  return result.incorrect_on_purpose() && result.verdict.outcome == Outcome::pass;
}

std::string status_of(const Result& result) {
  if (ran_incorrectly_on_purpose(result)) return "incorrect on purpose";
  const bool unchecked = !result.checked && result.verdict.outcome == Outcome::pass;
  return unchecked ? "unchecked" : name_of(result.verdict.outcome);
}

std::string bound_of(const Result& result, const std::optional<Ceilings>& ceilings) {
  if (!result.bound.empty()) return result.bound;
  if (result.accuracy == Accuracy::tf32) return "Tensor Cores";
  if (!result.stage) return ceilings ? problem_floor(result.spec, *ceilings).by : "";
  if (!ceilings) return predicted_bound(*result.stage, result.spec);
  return stage_prediction(*result.stage, result.spec, *ceilings, result.blocks(), open_device().sm_count).by;
}

std::string implausible(const Result& result, const std::optional<Ceilings>& ceilings, const TimingOptions& timing) {
  // 3 %: what the ceilings themselves move from run to run.
  const auto percent = result.percent_of_roofline(ceilings, true);
  if (!timing.cold || !percent || *percent <= 103.0) return {};
  return fmt::format("{} reaches {:.0f} % of the roofline with a cold cache: the harness is wrong", result.id,
                     *percent);
}

int exit_status(const std::vector<Result>& results, const std::optional<Ceilings>& ceilings,
                const TimingOptions& timing) {
  int status = 0;
  for (const Result& result : results) {
    const std::string complaint = implausible(result, ceilings, timing);
    if (!complaint.empty()) fmt::print(stderr, "error: {}\n", complaint);
    if (!complaint.empty() || result.verdict.outcome == Outcome::fail) status = 1;
  }
  return status;
}

}  // namespace gemm

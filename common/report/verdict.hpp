// What a result comes to: its status, what bounds it, and whether it can be true.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/measure/evaluate.hpp"

namespace gemm {

/// pass, fail, skip, or unchecked for what was timed and not checked.
std::string status_of(const Result& result);

/// Whether it was timed though it computes something else, on purpose, and did what it was to do.
bool ran_incorrectly_on_purpose(const Result& result);

/// What bounds it by its prediction; empty if there is none.
std::string bound_of(const Result& result, const std::optional<Ceilings>& ceilings);

/// A faster-than-possible cold result is a fault of the harness. Empty if all is well, else the complaint.
std::string implausible(const Result& result, const std::optional<Ceilings>& ceilings, const TimingOptions& timing);

/// 0 if all passed or were skipped, 1 if any failed or is implausible, which is said on standard error.
int exit_status(const std::vector<Result>& results, const std::optional<Ceilings>& ceilings = std::nullopt,
                const TimingOptions& timing = {});

}  // namespace gemm

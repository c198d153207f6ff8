// Results for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/measure/evaluate.hpp"

namespace gemm {

/// A table over results of one problem, as wide as the terminal. On the CPU executor it shows what was
/// checked and the predicted bound instead of times.
std::string table(const std::vector<Result>& results, const std::optional<Ceilings>& ceilings, bool colour);

}  // namespace gemm

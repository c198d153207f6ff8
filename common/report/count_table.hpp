// Counts for people.
#pragma once

#include <string>
#include <vector>

#include "common/backend/counts.hpp"
#include "common/measure/evaluate.hpp"

namespace gemm {

/// The ladder's counts, each stage beside its base, and what they predict for the reference GPU beside what was measured
/// there. As wide as the terminal.
std::string count_table(const std::vector<Result>& results, bool colour);

/// All that was counted of one run, then what the numbers say: bound and intensities.
std::string count_details(const Result& result);

/// Line by line, with the source; as wide as the terminal.
std::string line_table(const std::vector<LineCounts>& lines);

/// What changed from one to the other.
std::string count_changes(const Counts& before, const Counts& after);

}  // namespace gemm

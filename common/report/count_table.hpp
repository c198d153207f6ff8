// Counts for people.
#pragma once

#include <string>
#include <vector>

#include "common/backend/counts.hpp"
#include "common/measure/evaluate.hpp"

namespace gemm {

/// The ladder's counts, each stage beside the one before it; lines of at most 120 columns.
std::string count_table(const std::vector<Result>& results, bool colour);

/// All that was counted of one run, then what the numbers say: bound and intensities.
std::string count_details(const Result& result);

/// Line by line, with the source. At most 120 columns.
std::string line_table(const std::vector<LineCounts>& lines);

/// What changed from one to the other.
std::string count_changes(const Counts& before, const Counts& after);

}  // namespace gemm

// Counts for people (tables) and for programs (JSON).
#pragma once

#include <string>
#include <vector>

#include "common/counts.hpp"
#include "common/evaluate.hpp"
#include "common/report.hpp"

namespace gemm {

Json to_json(const Counts& counts);
Json to_json(const std::vector<LineCounts>& lines);

/// The ladder's counts, each stage beside the one before it; lines of at most 120 columns.
std::string count_table(const std::vector<Result>& results, bool colour);

/// All that was counted of one run, then what the numbers say: bound and intensities.
std::string count_details(const Result& result);

/// Line by line, with the source. At most 120 columns.
std::string line_table(const std::vector<LineCounts>& lines);

/// What changed from one to the other.
std::string count_changes(const Counts& before, const Counts& after);

/// What nvcc makes of the stage's kernels, if it is on this machine: registers, and the hot loop's loads, some of which
/// nvcc may have merged. Says so if there is none, or if this program was built where there was none.
std::string as_compiled(const Stage& stage);

/// Tells as_compiled() how: a static object of programs that can read machine code (compiled_details.cpp).
struct DetailsOfCompiled {
  explicit DetailsOfCompiled(std::string (*details)(const Stage&));
};

}  // namespace gemm

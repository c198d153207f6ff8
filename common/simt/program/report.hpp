// What an inspection has found, for people and for programs.
#pragma once

#include <string>

#include "common/simt/observe/findings.hpp"

namespace simt {

/// Whether there is more than warnings.
bool has_mistakes(const InspectionResult& result);

/// A table of the kernels' accesses and what they cost; with `lines` another one, of the lines that made them. Launches of one
/// kernel with the same grid and block are one row.
std::string counts_text(const InspectionResult& result, bool lines);

/// The same as JSON, and the mistakes; `status` is the program's.
std::string report_json(const InspectionResult& result, int status);

}  // namespace simt

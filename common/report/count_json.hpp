// Counts for programs.
#pragma once

#include <vector>

#include "common/backend/counts.hpp"
#include "common/report/json.hpp"

namespace gemm {

Json to_json(const Counts& counts);
Json to_json(const std::vector<LineCounts>& lines);

}  // namespace gemm

// What a file of measurements says of its circumstances.
#pragma once

#include <optional>
#include <string>

#include "common/backend/ceilings.hpp"
#include "common/report/json.hpp"

namespace gemm {

/// Device, driver, CUDA, cuBLAS, commit, command, ceilings.
Json provenance(const std::string& command, const std::optional<Ceilings>& ceilings);

}  // namespace gemm

// The reverse of result_json.hpp, for results that another program wrote.
#pragma once

#include "common/measure/evaluate.hpp"
#include "common/report/json.hpp"

namespace gemm {

/// What tables show of it; without its stage, with `bound` in its place. Throws nlohmann's exception for what to_json()
/// can't have written.
Result result_from_json(const Json& json);

}  // namespace gemm

// JSON as the harness writes and reads it: with its fields in the order in which they were set.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace gemm {

using Json = nlohmann::ordered_json;

}  // namespace gemm

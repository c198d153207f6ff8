// Options of generated kernels in JSON: as reports name them, and as tables of tuned kernels keep them.
#pragma once

#include "common/problem/kernel_options.hpp"
#include "common/report/json.hpp"

namespace gemm {

/// An object with those that are said: {"tile_m": 8, ..., "reduction": "ordered", "threads": 128}.
Json to_json(const KernelOptions& options);

/// The reverse. Throws UsageError for what to_json() can't have written: another name, type or value.
KernelOptions kernel_options_from_json(const Json& json);

}  // namespace gemm

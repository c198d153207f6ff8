// A trace of a stage's accesses for programs: docs/concepts/output.md describes every field.
#pragma once

#include "common/backend/trace.hpp"
#include "common/report/json.hpp"

namespace gemm {

Json to_json(const AccessTrace& trace);

}  // namespace gemm

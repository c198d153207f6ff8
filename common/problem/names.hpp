// What operations, types and distributions are called on command lines and in reports.
#pragma once

#include <string>

#include "common/problem/distribution.hpp"
#include "common/problem/problem.hpp"

namespace gemm {

const char* distribution_name(Distribution distribution);
Distribution distribution_of(const std::string& name);  ///< throws UsageError if there is none
const char* operation_name(Operation op);
Operation operation_of(const std::string& name);  ///< throws UsageError if there is none
const char* type_name(Type type);
const char* result_name(Operation op);  ///< the matrix that is written: C, of TSMM B

Type type_of(const std::string& letter);  ///< s, h, d or z; throws UsageError for others

}  // namespace gemm

// Scans that are right, and scans with a mistake, for tests/stages/test_tensor_probes.cpp.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "common/kernel/status.hpp"

namespace gemm::scan_test {

enum class Flaw {
  none,
  exclusive,   ///< without the number itself
  half_carry,  ///< what goes on from each 16 numbers to the next is rounded to FP16
  one_row,     ///< the last row has no result
  next_row,    ///< goes on from row to row
};

/// Prefix sums of rows of `width` numbers.
Status scan(Flaw flaw, const __half* in, float* out, std::int64_t rows, int width);

}  // namespace gemm::scan_test

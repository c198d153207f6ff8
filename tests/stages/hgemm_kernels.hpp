// FP16 products of the tests: a plain one, and what the check must reject.
#pragma once

#include <cuda_runtime.h>

#include "common/kernel/status.hpp"
#include "common/problem/problem.hpp"

namespace gemm {

enum class HgemmFlaw {
  none,           // sums in FP32
  cut_sums,       // sums cut off, not rounded, every 16 products: a Tensor Core's
  half_sums,      // sums rounded to FP16 after each product
  half_result,    // the result rounded to FP16
  dropped_k,      // leaves out one product of each sum
  swapped,        // takes B's rows for columns
  changes_input,  // writes to A's padding when it is done
  past_the_end,   // writes one element behind each row
};

/// One thread per element.
Status launch_plain_hgemm(const HgemmProblem& p, HgemmFlaw flaw, cudaStream_t stream);

}  // namespace gemm

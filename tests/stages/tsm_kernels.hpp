// Tall & skinny products as plainly as can be, right or with a flaw: what the harness is tested with.
#pragma once

#include <cuda_runtime.h>

#include "common/kernel/status.hpp"
#include "common/problem/problem.hpp"

namespace gemm {

enum class TsmFlaw {
  none,
  dropped_k,        // leaves out one single product of each sum
  not_conjugated,   // A^T in place of A^H
  conjugated,       // A^H in place of A^T
  real_alpha,       // takes the real part of alpha for alpha
  single,           // rounds products to FP32
  reads_result,     // multiplies it by beta = 0: it may hold NaN
  beyond_its_rows,  // writes an element behind the end of the last row
  changes_input,    // adds to A when it is done
};

/// Either operation, double or double complex.
Status launch_plain_tsm(const Problem& problem, TsmFlaw flaw, cudaStream_t stream);

/// The second pass of an ordered reduction alone: from `blocks` partial results at p.workspace, m x n each. TSMTTSM.
Status launch_combine(const Problem& problem, int blocks, cudaStream_t stream);

}  // namespace gemm

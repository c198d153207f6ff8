// Seven SGEMM kernels whose counts Nsight Compute has read on an H200, so that those of the CPU executor can be held
// against them (tests/executor/test_counts.cpp): each exposes another part of the cost model. Not stages: no edges, no
// fallbacks.
#pragma once

#include <cuda_runtime.h>

#include "common/kernel/status.hpp"
#include "common/problem/problem.hpp"

namespace gemm {

enum Prototype {
  naive_uncoalesced,
  naive_coalesced,
  tile,             ///< 32 x 32 tiles in shared memory
  tile_transposed,  ///< as `tile`, A's tile stored transposed: conflicts of the stores
  tile_padded,      ///< as `tile_transposed`, a column of padding: none
  float4_128,       ///< 128 x 128 x 8, float4 throughout, 256 threads of 8 x 8 elements, A's tile transposed
  scalar_64,        ///< 64 x 64 x 8, scalars throughout, 64 threads of 8 x 8 elements
  prototype_count,
};

const char* prototype_name(int which);

/// Enqueues C = alpha A B + beta C (C is always read). m, n and k must be multiples of 128, all rows aligned to 16
/// bytes: otherwise unsupported.
Status launch_prototype(int which, const SgemmProblem& problem, cudaStream_t stream = nullptr);

}  // namespace gemm

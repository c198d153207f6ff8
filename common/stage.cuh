// All that a stage file needs to include.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/launch.cuh"
#include "common/problem.hpp"
#include "common/registry.hpp"
#include "common/status.hpp"

namespace gemm {

/// ceil(a / b) for a >= 0, b > 0.
__host__ __device__ constexpr int ceil_div(int a, int b) {
  return a / b + (a % b != 0);
}

}  // namespace gemm

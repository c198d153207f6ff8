// Which thread writes which element: found by watching a stage's own kernel run, for the figures in docs/.
#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <vector>

#include "common/problem/registry.hpp"

namespace gemm {

struct ThreadMap {
  dim3 block;
  std::vector<std::vector<int>> rows;  ///< of what block 0 writes of C: the linear index of each element's thread
};

/// Of a stage of the SGEMM ladder; nothing for another or one that can't run. Needs the CPU executor; throws
/// DeviceError on a GPU build.
std::optional<ThreadMap> thread_map(const Stage& stage);

}  // namespace gemm

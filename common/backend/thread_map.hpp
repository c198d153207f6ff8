// Which thread writes which element: found by watching a stage's own kernel run, for `map` and the figures in docs/.
#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <vector>

#include "common/problem/registry.hpp"

namespace gemm {

struct ThreadMap {
  dim3 block;
  std::vector<std::vector<int>>
      rows;               ///< of what block 0 writes of the result: the linear index of each element's thread
  int launches = 1;       ///< of the stage, for the whole problem
  bool in_turns = false;  ///< several threads of the block wrote one element; `rows` has the last of them
};

/// Of a small problem of a stage's kind; nothing if the stage refuses it. Needs the CPU executor; throws DeviceError on
/// a GPU build.
std::optional<ThreadMap> thread_map(const Stage& stage);

}  // namespace gemm

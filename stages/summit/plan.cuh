// Stage 18: the partition of a product, as 17b's.
#pragma once

#include "common/kernel/schedule.cuh"

namespace gemm::summit {

struct Plan : StreamK {
  bool reduced;  // a second kernel, reduce(), adds up the parts of a tile, else the last of its workers to finish
};

}  // namespace gemm::summit

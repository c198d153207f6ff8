// The shared memory of the block that runs on the calling OS thread.
#pragma once

#include <cstddef>

namespace simt {

/// Fills every __shared__ variable of the program, and the first dynamic_bytes of the dynamic array, with NaN. CUDA
/// leaves a new block's shared memory undefined; this makes reading it visible.
void poison_shared_memory(std::size_t dynamic_bytes);

}  // namespace simt

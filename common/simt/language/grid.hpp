// A launch, what it is held to, and where a thread stands in its grid.
#pragma once

#include <cstddef>

#include "common/simt/language/types.hpp"

namespace simt {

/// Limits that a launch is held to: those of every CUDA device since compute capability 5.0 for threads and grid, and
/// of the largest (227 KB, sm_90) for shared memory.
inline constexpr unsigned max_threads_per_block = 1024;
inline constexpr std::size_t max_dynamic_shared = 227 * 1024;

/// Where a thread stands in the grid.
struct ThreadContext {
  uint3 thread;
  uint3 block;
  dim3 block_dim;
  dim3 grid_dim;
};

/// What to launch. `kernel` identifies the kernel in reports.
struct Launch {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared;
  const void* kernel;
  bool cooperative = false;  ///< all blocks are resident together, and may wait for one another in grid_barrier()
};

/// The kernel's call with its arguments. No std::function: kernel files are compiled so that every access to memory is
/// looked at, and those of std::function's own code must not be.
struct Body {
  void (*call)(const void* data);
  const void* data;
};

}  // namespace simt

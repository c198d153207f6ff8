// The CPU executor: runs a CUDA kernel, compiled as host C++, with one fiber for each CUDA thread of a block and blocks
// in parallel on all cores. docs/concepts/cpu_executor.md tells how.
#pragma once

#include <cstddef>

#include "common/simt/runtime.hpp"
#include "common/simt/types.hpp"

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

/// threadIdx, blockIdx, blockDim and gridDim of the running fiber. They never change within a fiber, hence `const`: g++
/// may look them up once per kernel. By value, so that reading them is no access to memory.
[[gnu::const]] uint3 thread_index() noexcept;
[[gnu::const]] uint3 block_index() noexcept;
[[gnu::const]] dim3 block_size() noexcept;
[[gnu::const]] dim3 grid_size() noexcept;

/// __syncthreads(): lets every other thread of the block run until it waits too, or has ended.
void barrier();
/// __syncthreads_and(), _or() and _count(): the same, and what all threads' predicates come to.
int barrier_and(int predicate);
int barrier_or(int predicate);
int barrier_count(int predicate);

/// What to launch. `kernel` identifies the kernel in reports.
struct Launch {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared;
  const void* kernel;
};

/// The kernel's call with its arguments. No std::function: kernel files are compiled so that every access to memory is
/// looked at, and those of std::function's own code must not be.
struct Body {
  void (*call)(const void* data);
  const void* data;
};

/// Runs body once for every thread of the grid and returns when all have ended. Before a block starts, its shared
/// memory is filled with NaN, so that reading what nobody wrote shows. If an inspection (inspection.hpp) is under way,
/// it learns what the threads do. Answers cudaErrorInvalidConfiguration or cudaErrorInvalidValue, as CUDA does, for a
/// launch that no device could run.
cudaError_t launch(const Launch& what, Body body);

/// How many blocks run at a time.
unsigned worker_count();

}  // namespace simt

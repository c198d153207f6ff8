// The CPU executor: runs a CUDA kernel, compiled as host C++, with one fiber for each CUDA thread of a block and blocks
// in parallel on all cores. docs/concepts/cpu_executor.md tells how.
#pragma once

#include <cstddef>
#include <functional>

#include "common/simt/runtime.hpp"
#include "common/simt/types.hpp"

namespace simt {

/// Limits that a launch is held to: those of every CUDA device since compute capability 5.0 for threads and grid, and
/// of the largest (227 KB, sm_90) for shared memory.
inline constexpr unsigned max_threads_per_block = 1024;
inline constexpr std::size_t max_dynamic_shared = 227 * 1024;

/// Where a thread stands in the grid: what threadIdx, blockIdx, blockDim and gridDim read.
struct ThreadContext {
  uint3 thread;
  uint3 block;
  dim3 block_dim;
  dim3 grid_dim;
};

/// The running fiber's context. It never changes within a fiber, hence `const`: g++ may look it up once per kernel.
[[gnu::const]] const ThreadContext& this_thread() noexcept;

/// __syncthreads(): lets every other thread of the block run until it waits too, or has ended.
void barrier();

/// What to launch. `kernel` identifies the kernel in reports.
struct Launch {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared;
  const void* kernel;
};

/// Looks on while a kernel runs. With an observer attached, blocks run one after another.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The thread has returned from the kernel; no other thread has run since it last passed a barrier.
  virtual void thread_ended(const ThreadContext& thread) = 0;
};

/// Attaches an observer to all launches that follow; nullptr takes it off again.
void observe(Observer* observer);

/// Runs body once for every thread of the grid and returns when all have ended. Before a block starts, its shared
/// memory is filled with NaN, so that reading what nobody wrote shows. Answers cudaErrorInvalidConfiguration or
/// cudaErrorInvalidValue, as CUDA does, for a launch that no device could run.
cudaError_t launch(const Launch& what, const std::function<void()>& body);

/// How many blocks run at a time.
unsigned worker_count();

}  // namespace simt

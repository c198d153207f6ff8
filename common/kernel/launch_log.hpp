// A note of what was launched: grid, block and kernel, for reports; and launches that are only prepared.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

namespace gemm {

/// Blocks, threads per block, bytes of dynamic shared memory, stream.
struct LaunchShape {
  dim3 grid{1};
  dim3 block{1};
  std::size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  /// Blocks may begin before the launch ahead of this one in the stream has ended; its results are there after
  /// ptx::wait_for_launch_ahead(). Where the GPU can't (before sm_90) they begin when it has ended.
  bool may_begin_early = false;
};

/// One launch. It points at the kernel so that its registers can be looked up.
struct LaunchRecord {
  const void* kernel;
  LaunchShape shape;
};

/// Where launches are noted down while it is not null.
inline std::vector<LaunchRecord>* launch_log = nullptr;

/// An argument of a launch, as its bytes.
struct LaunchArgument {
  bool pointer;
  std::string bytes;
};

/// Where the arguments of each launch are noted down while it is not null.
inline std::vector<std::vector<LaunchArgument>>* argument_log = nullptr;

/// While it is true, this thread's launches do all but enqueue the kernel: it is found, compiled and loaded.
inline thread_local bool launch_nothing = false;

/// Makes it true for as long as it lives.
class DryRunScope {
 public:
  DryRunScope() { launch_nothing = true; }
  ~DryRunScope() { launch_nothing = false; }
  DryRunScope(const DryRunScope&) = delete;
  DryRunScope& operator=(const DryRunScope&) = delete;
};

/// Notes launches down in `records` for as long as it lives.
class LaunchLogScope {
 public:
  explicit LaunchLogScope(std::vector<LaunchRecord>& records) { launch_log = &records; }
  ~LaunchLogScope() { launch_log = nullptr; }
  LaunchLogScope(const LaunchLogScope&) = delete;
  LaunchLogScope& operator=(const LaunchLogScope&) = delete;
};

}  // namespace gemm

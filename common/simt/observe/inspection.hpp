// Looks on while kernels run: counts their accesses to memory and finds their mistakes. docs/concepts/cpu_executor.md
// tells what is counted and caught, and what can't be.
#pragma once

#include "common/simt/observe/findings.hpp"
#include "common/simt/observe/sink.hpp"

namespace simt {

/// While it lives, every launch of this process is inspected and its result goes to `result`. One at a time.
class Inspection {
 public:
  explicit Inspection(InspectionResult& result)
      : sink_(result, on_global_write, on_request, on_launch_end, merges_launches, counts) {}

  /// Called for each write of a kernel to global memory; blocks then run one after another.
  WriteObserver on_global_write;
  /// Called for each access of a warp, as it was counted; blocks then run one after another.
  RequestObserver on_request;
  /// Called when a launch has ended.
  std::function<void()> on_launch_end;
  /// Whether launches of one kernel and shape become one observation: a program may have thousands.
  bool merges_launches = false;
  /// Whether accesses are counted, too: else only mistakes are of interest.
  bool counts = true;

 private:
  Sink sink_;
};

}  // namespace simt

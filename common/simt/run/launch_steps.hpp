// What executor.hpp's launch() does, in two steps, for <<<...>>> (language/launch.hpp). Kernels don't include this file:
// <string> costs each compilation at run time a tenth of a second.
#pragma once

#include <string>

#include "common/simt/language/grid.hpp"
#include "common/simt/language/runtime.hpp"

namespace simt {

struct Refusal {
  cudaError_t error = cudaSuccess;
  std::string why = {};
};
/// Whether a device could run it. `must_be_allowed`: more than 48 KB of shared memory, by cudaFuncSetAttribute().
Refusal refusal_of(const Launch& what, bool must_be_allowed);
/// Runs what is not refused. Answers what has stopped a thread, as cudaDeviceSynchronize() calls it; cudaSuccess if nothing
/// has. `kernel` is its name.
cudaError_t run_launch(const Launch& what, const std::string& kernel, Body body);

}  // namespace simt

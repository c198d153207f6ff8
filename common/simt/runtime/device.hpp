// The device that the executor says it is, of the family that SIMT_SM in the environment names (90 if it names none).
// Internal to common/simt/.
#pragma once

#include "common/simt/language/runtime.hpp"

namespace simt {

/// What a program is told. Numbers of a real GPU of the family, but fewer multiprocessors.
const cudaDeviceProp& device_properties();
/// 90 for sm_90. Ends the program with one line if SIMT_SM is no family that the executor knows.
int compute_capability();

}  // namespace simt

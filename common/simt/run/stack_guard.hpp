// Tells an overflow of a CUDA thread's stack from any other crash.
#pragma once

namespace simt {

/// From now on, if a kernel on this OS thread runs into the page below its stack, the program ends with one clear line
/// on standard error and exit status 2. Other faults take their usual course. Call once on each OS thread that runs
/// blocks.
void watch_stacks();

}  // namespace simt

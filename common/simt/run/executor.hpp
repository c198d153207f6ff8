// The CPU executor: runs a CUDA kernel, compiled as host C++, with one fiber for each CUDA thread of a block and blocks
// in parallel on all cores. docs/concepts/cpu_executor.md tells how.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simt/language/grid.hpp"
#include "common/simt/language/runtime.hpp"

namespace simt {

/// Runs body once for every thread of the grid and returns when all have ended. Before a block starts, its shared
/// memory is filled with NaN, so that reading what nobody wrote shows. If an inspection (inspection.hpp) is under way,
/// it learns what the threads do. Answers cudaErrorInvalidConfiguration or cudaErrorInvalidValue, as CUDA does, for a
/// launch that no device could run. The stream is only looked at (observe/given_stream.hpp).
cudaError_t launch(const Launch& what, Body body, cudaStream_t stream = nullptr);

/// How many blocks run at a time.
unsigned worker_count();

/// From now on so many bytes are there for an allocation in device memory, and the system is not asked.
void set_available_memory(std::size_t bytes);

/// In which order the blocks of later launches begin: 0 as their numbers are, any other number another order, the same each
/// time. On a GPU there is none to rely on.
void set_block_order(unsigned order);

/// Later launches of more blocks run only so many of them, spread over the grid; what an inspection counts is extrapolated. 0:
/// all of them. Cooperative launches always run whole. What a kernel would have written by the others is missing, so from the
/// first such launch on nobody is told of memory that is not initialised.
void set_block_sample(std::uint64_t blocks);

}  // namespace simt

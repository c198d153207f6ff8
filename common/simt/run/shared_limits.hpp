// How much shared memory a block may have. Not in executor.hpp: that is part of every kernel that is compiled at run time, and
// <string> would be a third of its compilation.
#pragma once

#include <string>

#include "common/simt/language/grid.hpp"

namespace simt {

/// Why this launch asks for too much, empty if it doesn't. `must_be_allowed`: more than 48 KB only after cudaFuncSetAttribute().
std::string beyond_shared_limits(const Launch& what, bool must_be_allowed);

/// Why kernels of this program can't run at all, on one line: with a __shared__ variable larger than any block's shared
/// memory there may be no room for a thread. Empty if there is none; launch() refuses what is merely too large.
std::string oversized_shared_variable();

/// How many blocks of such a launch the virtual device can hold together.
std::uint64_t most_cooperative_blocks(const Launch& what);

}  // namespace simt

// Work on the device shared out among processes: on the CPU executor a launch of few blocks leaves cores idle.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gemm {

/// Calls work(0) to work(pieces - 1), begun in this order, each in whichever process is free: this one, or one of
/// `processes` - 1 that are forked from it, each with device memory of its own (on a GPU there are none). Their answers;
/// empty of what was under way in one that ended, by a crash or by an exception. Exceptions of this process are passed on.
/// To be called before anything is launched.
std::vector<std::string> share_out(std::size_t pieces, int processes,
                                   const std::function<std::string(std::size_t)>& work);

}  // namespace gemm

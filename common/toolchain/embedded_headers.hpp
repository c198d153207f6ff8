// Headers as they were when the program was built: what kernels that are compiled at run time include, so that a
// program needs no source tree. (embed.cmake writes the definition.)
#pragma once

#include <vector>

#include "common/toolchain/jit_types.hpp"

namespace gemm {

using EmbeddedText = JitHeader;
const std::vector<JitHeader>& embedded_headers();

}  // namespace gemm

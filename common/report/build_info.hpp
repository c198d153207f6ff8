// How this build was made. GEMM_CUDA_ARCHITECTURES, GEMM_BUILD_TYPE and GEMM_COMPILER are compile definitions.
#pragma once

#include <string>

namespace gemm {

/// The commit, with "-dirty" if the tree had changes; "unknown" outside a checkout. Looked up at every build.
std::string build_commit();

}  // namespace gemm

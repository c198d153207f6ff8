// How this build compiles kernels; CMake writes the definitions (common/cmake/RunTimeCompilation.cmake).
#pragma once

namespace gemm::jit_flags {

extern const char* const compiler;  ///< absolute path
extern const char* const version;
extern const char* const begin;    ///< a header that includes the executor's; compiled in advance, it lies beside it
extern const char* const compile;  ///< options, one a line
extern const char* const link;

}  // namespace gemm::jit_flags

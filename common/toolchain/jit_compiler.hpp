// The compilers behind common/toolchain/jit.hpp, and what a back end does with their output.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/toolchain/jit_types.hpp"

namespace gemm {

/// A compiler that is there to be asked. Its version becomes a part of a file's name.
struct JitCompiler {
  std::string version;  ///< "nvrtc-13.0"
  /// Throws std::runtime_error with the first error.
  JitBinary (*compile)(const JitRequest&, const std::string& target) = nullptr;
};

/// NVRTC, if the library is to be found: beside the program, where the loader looks, in a toolkit.
std::optional<JitCompiler> nvrtc();

/// What the answer depends on besides the request: options, headers that the compiler adds.
std::string nvrtc_settings();

/// How many parameters the kernel in a cubin has; empty if the code is no cubin with that kernel.
std::optional<int> parameter_count(const JitBinary& binary);

// ---- the back end's part (common/backend/gpu/jit.cu, common/backend/cpu/jit.cpp)

/// The compiler for native_jit_target() where that is not NVRTC.
std::optional<JitCompiler> host_compiler();
std::string host_compiler_settings();
/// Where to get a compiler for this target, if there is none.
std::string missing_compiler(const std::string& target);

/// Makes a binary ready to launch. `file` holds it, too, unless empty. Throws std::runtime_error.
JitKernel load_kernel(const JitBinary& binary, const std::filesystem::path& file);

}  // namespace gemm

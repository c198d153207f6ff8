// What goes into and comes out of the compilers of jit.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gemm {

/// A header as text, under the name by which others include it.
struct JitHeader {
  std::string name, text;
};

/// What to compile. NVRTC sees no other headers than these; <cuda_runtime.h> and <cstdint> are there by themselves.
struct JitRequest {
  std::string kernel;              ///< an instance of a template: "gemm::sum<double, 3>"
  std::vector<JitHeader> headers;  ///< the first has the template, the others are what it includes
  /// For a GPU: ptxas keeps instructions more or less in the order in which they are written (its -O1), unless
  /// registers are spilled then. For loops whose order is better than what it would find.
  bool in_order = false;
};

/// What a compiler made of it: a cubin, or a shared object for the executor.
struct JitBinary {
  std::string symbol;  ///< the kernel's name in the code
  std::string code;
  int registers = 0;    ///< a thread; 0 on the executor
  int spill_bytes = 0;  ///< stores of spilled registers, a thread
};

/// A kernel that is loaded.
struct JitKernel {
  const void* handle = nullptr;  ///< what the launch log gets
  void (*call)(void* const* arguments) = nullptr;
  std::vector<std::size_t> parameter_bytes;
};

}  // namespace gemm

// Kernels that are compiled while the program runs, for exact sizes that nobody could list beforehand: by NVRTC for a
// GPU, by g++ for the CPU executor (docs/concepts/run_time_compilation.md). What was compiled once is kept on disk.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/kernel/launch_log.hpp"
#include "common/kernel/status.hpp"
#include "common/toolchain/jit_types.hpp"

namespace gemm {

/// A header that is part of this program, and behind it all that it includes by name in quotes, themselves and through
/// others, as they were when the program was built; without those of the executor (common/simt/), which it adds. Of a
/// stage's own file it is what stands above the line "#ifndef __CUDACC_RTC__" (which NVRTC defines): its kernel, but not
/// its launch. Part of a program is what its sources name here (gemm_kernel_headers in
/// common/cmake/RunTimeCompilation.cmake). Throws std::logic_error for others.
std::vector<JitHeader> kernel_headers(std::string_view name);

// ---- launching

/// The kernel, ready to launch on this build's device: from this process' memory, else from the disk, else compiled. It
/// stays for as long as the program runs. If status is not ok there is none: `unsupported` where there is no compiler,
/// `failed` with the compiler's first error.
struct JitResult {
  Status status;
  const JitKernel* kernel = nullptr;
};
JitResult find_kernel(const JitRequest& request);

/// As gemm::launch; arguments are pointers to them, `bytes` their sizes, which must be those of the kernel's
/// parameters.
Status launch_kernel(const JitKernel& kernel, const LaunchShape& shape, void** arguments,
                     std::span<const std::size_t> bytes);

/// How many blocks of it a multiprocessor holds at a time; at least 1.
int blocks_per_multiprocessor(const JitKernel& kernel, int threads, std::size_t dynamic_shared);

/// JitCall<void(int, float*)>::launch(kernel, shape, 1, c) enqueues a kernel with those parameters.
template <class Signature>
struct JitCall;
template <class... Parameters>
struct JitCall<void(Parameters...)> {
  static Status launch(const JitKernel& kernel, const LaunchShape& shape,
                       std::type_identity_t<Parameters>... arguments) {
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
    constexpr std::array<std::size_t, sizeof...(Parameters)> bytes = {sizeof(Parameters)...};
    return launch_kernel(kernel, shape, pointers, bytes);
  }
};

// ---- compiling and keeping

/// Where compiled kernels are kept: what set_kernel_cache() was given, else $GEMM_KERNEL_CACHE, else
/// $XDG_CACHE_HOME/staged-gemm, else ~/.cache/staged-gemm.
std::filesystem::path kernel_cache();
void set_kernel_cache(const std::filesystem::path& folder);

/// What to compile for: "sm_90a", or "cpu" for the executor (in its own build only). Throws UsageError for other names.
void require_jit_target(const std::string& target);
/// That of the current device.
std::string native_jit_target();

/// Sees to it that the kernel is in the cache, for any target that there is a compiler for; needs no device.
struct JitEntry {
  Status status;
  JitBinary binary;
  std::filesystem::path file;  ///< empty if it could not be written
  bool compiled = false;       ///< now, that is
  double seconds = 0;          ///< to compile
};
JitEntry compile_kernel(const JitRequest& request, const std::string& target);

/// What happened in this process so far.
struct JitCounters {
  int in_memory = 0, on_disk = 0, compiled = 0;
  int rejected = 0;  ///< files on the disk that were not what had been written
};
const JitCounters& jit_counters();

/// Forgets which kernels are in memory (they stay loaded): for tests.
void forget_kernels();

}  // namespace gemm

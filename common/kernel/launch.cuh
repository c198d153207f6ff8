// One way to launch a kernel on both back ends: through the CUDA runtime, or on the CPU executor (common/simt/).
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <type_traits>

#include "common/kernel/launch_log.hpp"
#include "common/kernel/status.hpp"

namespace gemm {

/// ceil(a / b) for a >= 0, b > 0.
__host__ __device__ constexpr int ceil_div(int a, int b) {
  return a / b + (a % b != 0);
}

inline Status status_of(cudaError_t error) {
  if (error == cudaSuccess) return Status::ok();
  return Status::failed(std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error));
}

/// The current device's number; 0 for the CPU executor.
inline int device_number() {
  int device = 0;
#ifdef __CUDACC__
  cudaGetDevice(&device);
#endif
  return device;
}

/// What a stage that fits its grid to the device must know of it.
struct DeviceLimits {
  int multiprocessors = 0;
  int shared_bytes_per_block = 0;  ///< the most that a kernel can be opted in to
  bool may_begin_early = false;    ///< a launch before the one ahead of it has ended (LaunchShape)
};

#ifndef __CUDACC__
/// Launches by <<<...>>> are noted and left out as those by launch() are.
inline bool note_written_launch(const simt::WrittenLaunch& what) {
  const simt::Launch& launch = what.launch;
  if (launch_log)
    launch_log->push_back({launch.kernel, {launch.grid, launch.block, launch.dynamic_shared, what.stream}});
  return !launch_nothing;
}
inline const bool notes_written_launches = (simt::on_written_launch = note_written_launch) != nullptr;

/// What the CPU executor answers: a small GPU with four multiprocessors, so that small problems take all the ways that
/// large ones take on a large GPU.
inline DeviceLimits executor_limits{4, 227 * 1024, false};
// So that the executor knows in which line of the stage a launch stands.
#define GEMM_IN_CALLER [[gnu::always_inline]] inline
#else
#define GEMM_IN_CALLER
#endif

/// The current device's.
inline DeviceLimits device_limits() {
#ifdef __CUDACC__
  thread_local int known = -1;  // asked for at each launch: this thread's last device, so no lock
  thread_local DeviceLimits limits;
  const int device = device_number();
  if (device == known) return limits;
  int major = 0;
  cudaDeviceGetAttribute(&limits.multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&limits.shared_bytes_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  limits.may_begin_early = major >= 9;
  known = device;
  return limits;
#else
  return executor_limits;
#endif
}

#ifdef __CUDACC__
// A kernel is here what the runtime takes for one: a function's address, or a cudaKernel_t.

/// Lets a kernel have so much dynamic shared memory: above 48 KB a block gets it only if the kernel was opted in. Not
/// supported, and nothing wrong with the kernel, if it wants more than this GPU has.
inline Status allow_shared(const void* kernel, std::size_t bytes) {
  if (bytes <= 48 * 1024) return Status::ok();
  const Status opted_in =
      status_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  if (opted_in) return opted_in;
  cudaGetLastError();  // or the next launch would answer for it
  int most = 0;
  if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_number()) != cudaSuccess ||
      bytes <= static_cast<std::size_t>(most)) {
    return opted_in;
  }
  return Status::unsupported(std::to_string(bytes) + " bytes of shared memory a block, and this GPU has " +
                             std::to_string(most));
}

/// What launch() and launch_kernel() (common/toolchain/jit.hpp) have in common. `arguments` are pointers to them.
inline Status launch_with_pointers(const void* kernel, const LaunchShape& shape, void** arguments) {
  if (const Status allowed = allow_shared(kernel, shape.dynamic_shared); !allowed) return allowed;
  if (launch_nothing) {
    cudaFuncAttributes loaded;  // the runtime loads kernels when they are first asked for
    return status_of(cudaFuncGetAttributes(&loaded, kernel));
  }
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.dynamic_shared;
  config.stream = shape.stream;
  if (shape.may_begin_early && device_limits().may_begin_early) {
    config.attrs = &early;
    config.numAttrs = 1;
  }
  const cudaError_t error = cudaLaunchKernelExC(&config, kernel, arguments);
  if (error != cudaSuccess) cudaGetLastError();  // or who asks next would get this answer again
  return status_of(error);
}
#endif

/// Enqueues kernel(arguments...) and reports what the launch itself answered (a fault inside the kernel shows up at the
/// next synchronisation). A grid of no blocks is no work, which CUDA would call an invalid configuration.
template <class... Parameters>
GEMM_IN_CALLER Status launch(void (*kernel)(Parameters...), const LaunchShape& shape,
                             std::type_identity_t<Parameters>... arguments) {
  if (launch_log) launch_log->push_back({reinterpret_cast<const void*>(kernel), shape});
#ifndef __CUDACC__
  if (argument_log)
    argument_log->push_back({LaunchArgument{std::is_pointer_v<Parameters>,
                                            {reinterpret_cast<const char*>(&arguments), sizeof(Parameters)}}...});
#endif
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) return Status::ok();
#ifdef __CUDACC__
  void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};  // nullptr: no array is empty
  return launch_with_pointers(reinterpret_cast<const void*>(kernel), shape, pointers);
#else
  if (launch_nothing) return Status::ok();
  // Fetching the arguments is no access of the kernel's, hence the attribute.
  const auto call = [&]() __attribute__((no_sanitize("thread", "bounds"))) {
    kernel(arguments...);
  };
  const auto thunk = [](const void* data) __attribute__((no_sanitize("thread", "bounds"))) {
    (*static_cast<decltype(call)*>(data))();
  };
  return status_of(simt::launch({shape.grid, shape.block, shape.dynamic_shared, reinterpret_cast<const void*>(kernel)},
                                {thunk, &call}, shape.stream));
#endif
}

}  // namespace gemm

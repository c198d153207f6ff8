// What takes the place of the harness in a flat file: a declaration here replaces that of the same name in common/.
// These keep no log of launches, register nothing, and compile nothing at run time.
#pragma once

#include <map>

namespace gemm {

inline Status launch_with_pointers(const void* kernel, const LaunchShape& shape, void** arguments) {
  if (shape.dynamic_shared > 48 * 1024) {  // more than a kernel gets without being asked
    const Status allowed = status_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                          static_cast<int>(shape.dynamic_shared)));
    if (!allowed) return allowed;
  }
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.dynamic_shared;
  config.stream = shape.stream;
  config.attrs = &early;
  config.numAttrs = shape.may_begin_early ? 1 : 0;  // from sm_90 on
  return status_of(cudaLaunchKernelExC(&config, kernel, arguments));
}

/// Enqueues kernel(arguments...). A grid of no blocks is no work.
template <class... Parameters>
Status launch(void (*kernel)(Parameters...), const LaunchShape& shape, std::type_identity_t<Parameters>... arguments) {
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) return Status::ok();
  void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};  // nullptr: no array is empty
  return launch_with_pointers(reinterpret_cast<const void*>(kernel), shape, pointers);
}

/// The program below calls the stage by its `info`.
struct Registration {
  Registration(const char*, const auto&) {}
};

inline std::vector<JitHeader> kernel_headers(std::string_view) {
  return {};
}

/// The kernels that nvcc compiles with this file, by the names that the stage would give NVRTC.
inline std::map<std::string, JitKernel> compiled_kernels;

inline JitResult find_kernel(const JitRequest& request) {
  const auto found = compiled_kernels.find(request.kernel);
  if (found == compiled_kernels.end()) return {Status::unsupported("this file has no kernel " + request.kernel)};
  return {Status::ok(), &found->second};
}

inline Status launch_kernel(const JitKernel& kernel, const LaunchShape& shape, void** arguments,
                            std::span<const std::size_t>) {
  if (shape.grid.x == 0) return Status::ok();
  return launch_with_pointers(kernel.handle, shape, arguments);
}

inline int blocks_per_multiprocessor(const JitKernel& kernel, int threads, std::size_t dynamic_shared) {
  int blocks = 0;
  cudaFuncSetAttribute(kernel.handle, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(dynamic_shared));
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.handle, threads, dynamic_shared);
  return std::max(blocks, 1);
}

}  // namespace gemm

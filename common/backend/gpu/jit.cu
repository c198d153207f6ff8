// Kernels compiled at run time, on a GPU: cubins loaded as libraries of the CUDA runtime.
#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>

#include "common/backend/device.hpp"
#include "common/kernel/launch.cuh"
#include "common/toolchain/jit.hpp"
#include "common/toolchain/jit_compiler.hpp"

namespace gemm {

std::optional<JitCompiler> host_compiler() {
  return std::nullopt;
}
std::string host_compiler_settings() {
  return {};
}

std::string missing_compiler(const std::string& target) {
  return "needs NVRTC (libnvrtc.so, of a CUDA toolkit), or kernels compiled before for " + target + " in " +
         kernel_cache().string();
}

std::string native_jit_target() {
  const int capability = current_device().compute_capability;
  return "sm_" + std::to_string(capability) + (capability == 90 ? "a" : "");
}

#if CUDART_VERSION >= 12080

namespace {

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // or the next launch would answer for it
  throw std::runtime_error(status_of(error).reason);
}

}  // namespace

JitKernel load_kernel(const JitBinary& binary, const std::filesystem::path&) {
  cudaLibrary_t library = nullptr;
  require(cudaLibraryLoadData(&library, binary.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  require(cudaLibraryGetKernel(&kernel, library, binary.symbol.c_str()));
  JitKernel result;
  result.handle = kernel;
  result.parameter_bytes.resize(static_cast<std::size_t>(parameter_count(binary).value_or(0)));
  for (std::size_t i = 0, offset = 0; i < result.parameter_bytes.size(); ++i)
    require(cudaFuncGetParamInfo(result.handle, i, &offset, &result.parameter_bytes[i]));
  return result;
}

#else

JitKernel load_kernel(const JitBinary&, const std::filesystem::path&) {
  throw std::runtime_error("needs CUDA 12.8 or newer, which loads compiled kernels through its runtime");
}

#endif

Status launch_kernel(const JitKernel& kernel, const LaunchShape& shape, void** arguments,
                     std::span<const std::size_t> bytes) {
  // Empty if the cubin does not tell.
  if (!kernel.parameter_bytes.empty() &&
      !std::equal(bytes.begin(), bytes.end(), kernel.parameter_bytes.begin(), kernel.parameter_bytes.end()))
    return Status::failed("arguments of other types");
  if (launch_log) launch_log->push_back({kernel.handle, shape});
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) return Status::ok();
  return launch_with_pointers(kernel.handle, shape, arguments);
}

int blocks_per_multiprocessor(const JitKernel& kernel, int threads, std::size_t dynamic_shared) {
  int blocks = 0;
  if (!allow_shared(kernel.handle, dynamic_shared) ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.handle, threads, dynamic_shared) != cudaSuccess)
    cudaGetLastError();
  return std::max(blocks, 1);
}

}  // namespace gemm

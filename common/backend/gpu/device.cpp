#include "common/backend/device.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "common/backend/device_memory.hpp"
#include "common/backend/gpu/nvml.hpp"
#include "common/kernel/status.hpp"

namespace gemm {
namespace {

std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

DeviceInfo describe() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
    throw DeviceError(fmt::format("no CUDA device: {} (the `cpu` build runs without one)",
                                  error == cudaSuccess ? "none found" : cudaGetErrorString(error)));
  }
  current_device();  // throws, if this build holds no code for it
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0), "read the device's properties");

  DeviceInfo info;
  info.name = properties.name;
  info.gpu = true;
  info.compute_capability = 10 * properties.major + properties.minor;
  info.sm_count = properties.multiProcessorCount;
  info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  info.memory_bytes = properties.totalGlobalMem;
  info.sm_shared_bytes = properties.sharedMemPerMultiprocessor;

  char bus_id[32] = {};
  check_cuda(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0), "read the device's PCI bus id");
  info.pci_bus_id = bus_id;
  int version = 0;
  check_cuda(cudaRuntimeGetVersion(&version), "read the CUDA runtime's version");
  info.cuda = cuda_version(version);
  check_cuda(cudaDriverGetVersion(&version), "read the driver's CUDA version");
  info.driver = Nvml::instance().driver_version();
  if (info.driver.empty()) info.driver = "for CUDA " + cuda_version(version);
  int parts[3] = {};
  cublasGetProperty(MAJOR_VERSION, &parts[0]);
  cublasGetProperty(MINOR_VERSION, &parts[1]);
  cublasGetProperty(PATCH_LEVEL, &parts[2]);
  info.cublas = fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
  return info;
}

}  // namespace

const DeviceInfo& open_device() {
  static const DeviceInfo info = describe();
  return info;
}

std::string kernel_name(const void*) {
  return {};
}

std::optional<KernelResources> kernel_resources(const void* kernel) {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) {
    cudaGetLastError();
    return std::nullopt;
  }
  return KernelResources{attributes.numRegs, static_cast<int>(attributes.localSizeBytes),
                         static_cast<int>(attributes.sharedSizeBytes)};
}

}  // namespace gemm

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/kernel/status.hpp"

namespace gemm {
namespace {

CurrentDevice describe(int number) {
  CurrentDevice device;
  device.number = number;
  device.gpu = true;
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, number), "read the device's properties");
  device.name = properties.name;
  device.compute_capability = 10 * properties.major + properties.minor;
  // Asked before anything is launched: the runtime would answer "no kernel image", or worse, run code made for another
  // chip through the driver's compiler and report its speed as this chip's.
  if (!architectures_cover(GEMM_CUDA_ARCHITECTURES, device.compute_capability)) {
    throw DeviceError(fmt::format(
        "this build holds code for {} but the GPU ({}) is sm_{}: rebuild with -DCMAKE_CUDA_ARCHITECTURES={}-real",
        GEMM_CUDA_ARCHITECTURES, device.name, device.compute_capability, device.compute_capability));
  }
  return device;
}

}  // namespace

const CurrentDevice& current_device() {
  int number = 0;
  if (const cudaError_t error = cudaGetDevice(&number); error != cudaSuccess) {
    cudaGetLastError();  // or the next launch would answer for it
    throw DeviceError(fmt::format("no CUDA device: {}", cudaGetErrorString(error)));
  }
  thread_local const CurrentDevice* latest = nullptr;  // asked for at each launch: no lock for the same device again
  if (latest && latest->number == number) return *latest;
  static std::mutex mutex;
  static std::map<int, CurrentDevice> known;
  const std::lock_guard lock(mutex);
  auto found = known.find(number);
  if (found == known.end()) found = known.emplace(number, describe(number)).first;
  latest = &found->second;
  return *latest;
}

}  // namespace gemm

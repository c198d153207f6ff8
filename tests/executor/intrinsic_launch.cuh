// What the kernels of tests/intrinsic_*.cu are launched with. Throws DeviceError where something fails.
#pragma once

#include <type_traits>
#include <vector>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"

namespace intrinsics {

inline void go(const gemm::Status& status) {
  if (!status) throw gemm::DeviceError(status.reason);
}

template <class T>
gemm::DeviceArray<T> upload(const std::vector<T>& host) {
  gemm::DeviceArray<T> array(host.size());
  gemm::check_cuda(cudaMemcpy(array.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
                   "copy to the device");
  return array;
}

/// Launches one block of `count` threads with (arguments..., T* out) and hands out[0..count) back.
template <class T, class... Parameters, class... Arguments>
std::vector<T> run(void (*kernel)(Parameters...), std::size_t count, Arguments... arguments) {
  const gemm::DeviceArray<T> out(count);
  go(gemm::launch(kernel, {.block = static_cast<unsigned>(count)}, arguments..., out.data()));
  return out.to_host();
}

}  // namespace intrinsics

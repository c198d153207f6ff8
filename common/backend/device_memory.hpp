// Owned device memory, and the check of runtime calls that the harness itself makes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/kernel/status.hpp"

namespace gemm {

/// Throws DeviceError unless the call succeeded. `doing` completes "could not ...".
inline void check_cuda(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not be blamed on the next launch
  throw DeviceError(std::string("could not ") + doing + ": " + cudaGetErrorString(error));
}

/// Nothing is lost but the memory that was asked for: a smaller problem may still fit.
struct OutOfDeviceMemory : DeviceError {
  OutOfDeviceMemory() : DeviceError("could not allocate device memory: out of memory") {}
};

/// An array of T in device memory, uninitialised. Throws OutOfDeviceMemory when there is not enough.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) : count_(count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw OutOfDeviceMemory();
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, count * sizeof(T));
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // or the next launch would answer for it
      throw OutOfDeviceMemory();
    }
    check_cuda(error, "allocate device memory");
    data_ = static_cast<T*>(memory);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

  /// Waits for all work on the device, then copies.
  std::vector<T> to_host() const {
    std::vector<T> host(count_);
    check_cuda(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy from the device");
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace gemm

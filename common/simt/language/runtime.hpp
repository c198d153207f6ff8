// The part of the CUDA runtime API that the harness uses, on host memory. Everything is synchronous: a stream is a
// name.
#pragma once

#include <cstddef>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorCooperativeLaunchTooLarge = 720,
};
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
inline constexpr unsigned cudaMemAttachGlobal = 1;
using cudaStream_t = struct CUstream_st*;

namespace simt {
cudaError_t set_last_error(cudaError_t error);
/// What cudaFuncSetAttribute() has allowed a kernel, in bytes.
std::size_t allowed_dynamic_shared(const void* kernel);
}  // namespace simt

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
/// The last error of this process; asking for it clears it.
cudaError_t cudaGetLastError();
/// The same, and it stays.
cudaError_t cudaPeekAtLastError();

/// "Device" memory (global_memory.hpp), aligned to 256 bytes and filled with NaN. Fails, as on a GPU, when there is not
/// that much free.
cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
/// The same, and the host may use it, too.
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
/// `height` rows of `width` bytes, whose beginnings are `to_pitch` and `from_pitch` bytes apart.
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamSynchronize(cudaStream_t stream);

// For a pointer to anything, as CUDA has them.
template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return cudaMalloc(static_cast<void**>(static_cast<void*>(pointer)), bytes);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(static_cast<void**>(static_cast<void*>(pointer)), bytes, flags);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(static_cast<void**>(static_cast<void*>(pointer)), bytes, stream);
}

/// Allows a kernel more than 48 KB of dynamic shared memory, which kernel<<<...>>> needs. Other attributes are hints.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

/// Fills a __constant__ or __device__ variable.
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  if (offset > sizeof symbol || bytes > sizeof symbol - offset) return simt::set_last_error(cudaErrorInvalidValue);
  return cudaMemcpy(reinterpret_cast<char*>(&symbol) + offset, from, bytes, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  if (offset > sizeof symbol || bytes > sizeof symbol - offset) return simt::set_last_error(cudaErrorInvalidValue);
  return cudaMemcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, kind);
}

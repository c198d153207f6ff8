#include "common/simt/language/runtime.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <string>

#include "common/simt/language/grid.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/run/executor.hpp"

namespace {

cudaError_t last_error = cudaSuccess;

std::size_t told_bytes = 0;

// What the system could still hand out, in bytes. malloc alone would promise more than there is.
std::size_t available_bytes() {
  if (told_bytes) return told_bytes;
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (std::size_t kib; file >> key >> kib; std::getline(file, unit)) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return ~std::size_t{0};
}

// Host memory, or device memory that is allocated from end to end.
bool accessible(const void* pointer, std::size_t bytes) {
  const auto& memory = simt::GlobalMemory::instance();
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return !memory.contains(address) || memory.allocated(address, bytes);
}

std::map<const void*, std::size_t>& allowed_by_kernel() {
  static auto& bytes = *new std::map<const void*, std::size_t>;
  return bytes;
}

}  // namespace

namespace simt {
void set_available_memory(std::size_t bytes) {
  told_bytes = bytes;
}
cudaError_t set_last_error(cudaError_t error) {
  return last_error = error;
}
std::size_t allowed_dynamic_shared(const void* kernel) {
  const auto at = allowed_by_kernel().find(kernel);
  return at == allowed_by_kernel().end() ? 0 : at->second;
}
}  // namespace simt

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  return last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorCooperativeLaunchTooLarge:
      return "cudaErrorCooperativeLaunchTooLarge";
  }
  return "unknown error";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorCooperativeLaunchTooLarge:
      return "too many blocks in cooperative launch";
  }
  return "unknown error";
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes <= available_bytes()) *pointer = simt::GlobalMemory::instance().allocate(bytes);
  return *pointer ? cudaSuccess : simt::set_last_error(cudaErrorMemoryAllocation);
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  const cudaError_t error = cudaMalloc(pointer, bytes);
  // What the host writes there nobody sees, so all of it counts as written.
  if (*pointer) simt::GlobalMemory::instance().mark_written(reinterpret_cast<std::uintptr_t>(*pointer), bytes);
  if (*pointer) simt::GlobalMemory::instance().share_with_host(reinterpret_cast<std::uintptr_t>(*pointer));
  return error;
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}

cudaError_t cudaFree(void* pointer) {
  if (!pointer || simt::GlobalMemory::instance().release(pointer)) return cudaSuccess;
  return simt::set_last_error(cudaErrorInvalidValue);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  return cudaFree(pointer);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes == 0) return cudaSuccess;
  if (!accessible(to, bytes) || !accessible(from, bytes)) return simt::set_last_error(cudaErrorInvalidValue);
  const simt::GlobalMemory::Opening opening;
  std::memcpy(to, from, bytes);
  simt::GlobalMemory::instance().mark_written(reinterpret_cast<std::uintptr_t>(to), bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t) {
  if (width == 0 || height == 0) return cudaSuccess;
  const std::size_t to_bytes = (height - 1) * to_pitch + width, from_bytes = (height - 1) * from_pitch + width;
  if (width > std::min(to_pitch, from_pitch) || !accessible(to, to_bytes) || !accessible(from, from_bytes))
    return simt::set_last_error(cudaErrorInvalidValue);
  const simt::GlobalMemory::Opening opening;
  for (std::size_t row = 0; row < height; ++row) {
    auto* const here = static_cast<std::byte*>(to) + row * to_pitch;
    std::memcpy(here, static_cast<const std::byte*>(from) + row * from_pitch, width);
    simt::GlobalMemory::instance().mark_written(reinterpret_cast<std::uintptr_t>(here), width);
  }
  return cudaSuccess;
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!accessible(to, bytes)) return simt::set_last_error(cudaErrorInvalidValue);
  const simt::GlobalMemory::Opening opening;
  std::memset(to, value, bytes);
  simt::GlobalMemory::instance().mark_written(reinterpret_cast<std::uintptr_t>(to), bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(to, value, bytes);
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<std::size_t>(value) > simt::max_dynamic_shared)
    return simt::set_last_error(cudaErrorInvalidValue);
  allowed_by_kernel()[kernel] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}

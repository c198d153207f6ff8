#include <algorithm>
#include <cstddef>

#include "common/simt/observe/global_memory.hpp"
#include "common/simt/run/executor.hpp"
#include "common/simt/runtime/allocation.hpp"
#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/capture.hpp"
#include "common/simt/runtime/device.hpp"
#include "common/simt/runtime/graph_memory.hpp"
#include "common/simt/runtime/mode.hpp"
#include "common/simt/runtime/pools.hpp"
#include "common/simt/runtime/queue.hpp"
#include "common/simt/runtime/stream_order.hpp"

namespace {

constexpr std::size_t pitch_alignment = 512;

cudaError_t allocate_rows(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                          const simt::Call& call) {
  if (!pointer || !pitch) return cudaErrorInvalidValue;
  *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  return simt::allocate(pointer, *pitch * height, simt::Home::device, call);
}

bool is_host_flag(unsigned flags) {
  return flags <= (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined);
}

cudaError_t allocate_pinned(void** pointer, std::size_t bytes, unsigned flags, const simt::Call& call) {
  if (!is_host_flag(flags)) return cudaErrorInvalidValue;
  return simt::allocate(pointer, bytes, simt::Home::pinned, call);
}

cudaError_t allocate_async(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                           const simt::Call& call) {
  CUstream_st* const at = simt::find_stream(stream);
  if (!at) return cudaErrorInvalidResourceHandle;
  if (!simt::is_pool(pool)) return cudaErrorInvalidValue;
  if (at->capture) return pointer ? simt::record_allocation(*at, pointer, bytes, call) : cudaErrorInvalidValue;
  const cudaError_t error = simt::allocate(pointer, bytes, simt::Home::device, call);
  if (error == cudaSuccess) simt::add_to_pool(pool, *pointer, bytes);
  return error;
}

// Advice is heard and changes nothing; but it must be of managed memory.
cudaError_t check_managed(const void* pointer, std::size_t bytes, int device) {
  if (device < cudaCpuDeviceId || device > 0) return cudaErrorInvalidDevice;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const simt::Home home = simt::home_of(address);
  const auto& memory = simt::GlobalMemory::instance();
  const bool is_variable = !memory.contains(address);
  const bool fits = home == simt::Home::managed && bytes > 0 && (is_variable || memory.allocated(address, bytes));
  return fits ? cudaSuccess : cudaErrorInvalidValue;
}
int device_of(cudaMemLocation location) {
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  const simt::Call call = SIMT_CALL("cudaMalloc()");
  return simt::enter(call, [&] { return simt::allocate(pointer, bytes, simt::Home::device, call); });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  const simt::Call call = SIMT_CALL("cudaMallocManaged()");
  return simt::enter(call, [&] {
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) return cudaErrorInvalidValue;
    return simt::allocate(pointer, bytes, simt::Home::managed, call);
  });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  const simt::Call call = SIMT_CALL("cudaMallocPitch()");
  return simt::enter(call, [&] { return allocate_rows(pointer, pitch, width, height, call); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  const simt::Call call = SIMT_CALL("cudaMalloc3D()");
  return simt::enter(call, [&] {
    if (!pitched) return cudaErrorInvalidValue;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return allocate_rows(&pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth, call);
  });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  const simt::Call call = SIMT_CALL("cudaMallocAsync()");
  return simt::enter(call, [&] { return allocate_async(pointer, bytes, simt::present_pool(), stream, call); });
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  const simt::Call call = SIMT_CALL("cudaMallocFromPoolAsync()");
  return simt::enter(call, [&] { return allocate_async(pointer, bytes, pool, stream, call); });
}

cudaError_t cudaFree(void* pointer) {
  const simt::Call call = SIMT_CALL("cudaFree()");
  return simt::enter(call, [&] {
    if (!pointer) return cudaSuccess;
    if (const cudaError_t error = simt::wait_for_all(); error != cudaSuccess) return error;
    simt::remove_from_pool(pointer);
    simt::forget_graph_memory(pointer);
    return simt::remove_piece(pointer, simt::Home::device, call);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  const simt::Call call = SIMT_CALL("cudaFreeAsync()");
  return simt::enter(call, [&] {
    CUstream_st* const at = simt::find_stream(stream);
    if (!at) return cudaErrorInvalidResourceHandle;
    if (!pointer) return cudaErrorInvalidValue;
    if (at->capture) return simt::record_free(*at, pointer, call);
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    const simt::Piece* const piece = simt::piece_at(begin);
    if (!piece || piece->freed.name || piece->begin != begin || piece->home != simt::Home::device)
      return simt::remove_piece(pointer, simt::Home::device, call);
    simt::forget_graph_memory(pointer);
    simt::issue(*at, call.name, call.pc, simt::freeing(*piece, call));
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned flags) {
  const simt::Call call = SIMT_CALL("cudaMallocHost()");
  return simt::enter(call, [&] { return allocate_pinned(pointer, bytes, flags, call); });
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  const simt::Call call = SIMT_CALL("cudaHostAlloc()");
  return simt::enter(call, [&] { return allocate_pinned(pointer, bytes, flags, call); });
}
cudaError_t cudaFreeHost(void* pointer) {
  const simt::Call call = SIMT_CALL("cudaFreeHost()");
  return simt::enter(call, [&] {
    if (!pointer) return cudaSuccess;
    if (const cudaError_t error = simt::wait_for_all(); error != cudaSuccess) return error;
    return simt::remove_piece(pointer, simt::Home::pinned, call);
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  const simt::Call call = SIMT_CALL("cudaHostRegister()");
  return simt::enter(call, [&] {
    if (!pointer || bytes == 0) return cudaErrorInvalidValue;
    const simt::Home home = simt::home_of(reinterpret_cast<std::uintptr_t>(pointer));
    if (home == simt::Home::registered || home == simt::Home::pinned) return cudaErrorHostMemoryAlreadyRegistered;
    if (home != simt::Home::pageable) return cudaErrorInvalidValue;
    simt::add_registered(pointer, bytes, call);
    return cudaSuccess;
  });
}
cudaError_t cudaHostUnregister(void* pointer) {
  const simt::Call call = SIMT_CALL("cudaHostUnregister()");
  return simt::enter(call, [&] {
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    if (simt::home_of(begin) != simt::Home::registered) return cudaErrorHostMemoryNotRegistered;
    if (const cudaError_t error = simt::wait_for_all(); error != cudaSuccess) return error;
    return simt::remove_piece(pointer, simt::Home::registered, call);
  });
}
cudaError_t cudaHostGetDevicePointer(void** of_device, void* of_host, unsigned flags) {
  return simt::enter(SIMT_CALL("cudaHostGetDevicePointer()"), [&] {
    const simt::Home home = simt::home_of(reinterpret_cast<std::uintptr_t>(of_host));
    const bool fits = of_device && flags == 0 && (home == simt::Home::pinned || home == simt::Home::registered);
    if (!fits) return cudaErrorInvalidValue;
    *of_device = of_host;
    return cudaSuccess;
  });
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return simt::enter(SIMT_CALL("cudaHostGetFlags()"), [&] {
    if (!flags || simt::home_of(reinterpret_cast<std::uintptr_t>(pointer)) != simt::Home::pinned)
      return cudaErrorInvalidValue;
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return simt::enter(SIMT_CALL("cudaMemGetInfo()"), [&] {
    if (!free || !total) return cudaErrorInvalidValue;
    *total = simt::device_properties().totalGlobalMem;
    *free = std::min(simt::free_bytes(), *total);
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return simt::enter(SIMT_CALL("cudaPointerGetAttributes()"), [&] {
    if (!attributes) return cudaErrorInvalidValue;
    void* const any = const_cast<void*>(pointer);
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, nullptr};
    switch (simt::home_of(reinterpret_cast<std::uintptr_t>(pointer))) {
      case simt::Home::pageable:
        break;
      case simt::Home::registered:
      case simt::Home::pinned:
        *attributes = {cudaMemoryTypeHost, 0, any, any};
        break;
      case simt::Home::managed:
        *attributes = {cudaMemoryTypeManaged, 0, any, any};
        break;
      case simt::Home::device:
      case simt::Home::symbol:
        *attributes = {cudaMemoryTypeDevice, 0, any, nullptr};
        break;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, cudaStream_t stream) {
  return simt::enter(SIMT_CALL("cudaMemPrefetchAsync()"), [&] {
    return simt::find_stream(stream) ? check_managed(pointer, bytes, device) : cudaErrorInvalidResourceHandle;
  });
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned,
                                 cudaStream_t stream) {
  return simt::enter(SIMT_CALL("cudaMemPrefetchAsync()"), [&] {
    return simt::find_stream(stream) ? check_managed(pointer, bytes, device_of(location))
                                     : cudaErrorInvalidResourceHandle;
  });
}
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, int device) {
  return simt::enter(SIMT_CALL("cudaMemAdvise()"), [&] { return check_managed(pointer, bytes, device); });
}
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, cudaMemLocation location) {
  return simt::enter(SIMT_CALL("cudaMemAdvise()"), [&] { return check_managed(pointer, bytes, device_of(location)); });
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t, unsigned) {
  return simt::enter(SIMT_CALL("cudaStreamAttachMemAsync()"), [&] {
    return simt::find_stream(stream) ? check_managed(pointer, 1, 0) : cudaErrorInvalidResourceHandle;
  });
}

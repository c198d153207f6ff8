// The CUDA runtime API. The harness has it at once, on host memory; in a program that runs on the executor whole
// (common/simt/runtime/program.hpp), work is queued by stream, runs as late as CUDA allows, and the host is watched.
#pragma once

#include <cstddef>

#include "common/simt/language/runtime_types.hpp"

namespace simt {
cudaError_t set_last_error(cudaError_t error);
/// What cudaFuncSetAttribute() has allowed a kernel, in bytes.
std::size_t allowed_dynamic_shared(const void* kernel);

/// A __device__, __constant__ or __managed__ variable, as cudaMemcpyToSymbol and its relatives are given it.
struct Symbol {
  const void* address;
  std::size_t bytes;
};
template <class T>
Symbol symbol_of(const T& variable) {
  return {const_cast<const char*>(&reinterpret_cast<const volatile char&>(variable)), sizeof variable};
}
cudaError_t copy_to_symbol(Symbol symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind);
cudaError_t copy_from_symbol(void* to, Symbol symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind);
cudaError_t copy_to_symbol_async(Symbol symbol, const void* from, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t copy_from_symbol_async(void* to, Symbol symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                                   cudaStream_t stream);
cudaError_t address_of_symbol(void** address, Symbol symbol);
cudaError_t size_of_symbol(std::size_t* bytes, Symbol symbol);
}  // namespace simt

// ---- Errors

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
/// The last error of this thread; asking for it clears it.
cudaError_t cudaGetLastError();
/// The same, and it stays.
cudaError_t cudaPeekAtLastError();

// ---- Memory

/// "Device" memory (global_memory.hpp), aligned to 256 bytes and filled with NaN. Fails, as on a GPU, when there is not
/// that much free.
cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
/// The same, and the host may use it, too.
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags = cudaMemAttachGlobal);
/// Rows of `width` bytes, each at a multiple of 512 bytes.
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height);
cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent);
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream);
/// Pools: what they keep and give back is no matter here, so their attributes but tell what was set, and bytes in use.
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
/// Of the one device's pools the device itself has all rights; others can't be given any.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* rights, std::size_t count);
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes_kept);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
/// Pinned host memory, which kernels may access, too.
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned flags = cudaHostAllocDefault);
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* pointer);
/// Kernels may access it; copies treat it as pageable.
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** of_device, void* of_host, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes = 0,
                                     unsigned flags = cudaMemAttachSingle);

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream = nullptr);
/// `height` rows of `width` bytes, whose beginnings are `to_pitch` and `from_pitch` bytes apart.
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* what);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* what, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height);
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent);

// ---- Streams and events

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
/// cudaErrorNotReady the first time, if there is work; as a GPU may, it then has done it when it is asked again.
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
/// By the CPU's clock: what the executor needed, nothing that a GPU would need.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// ---- The device

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaThreadSynchronize();  // as cudaDeviceSynchronize(): older programs have these names
cudaError_t cudaThreadExit();
cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config);
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceReset();
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaCtxResetPersistingL2Cache();
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// ---- Kernels

/// Allows a kernel more than 48 KB of dynamic shared memory, which kernel<<<...>>> needs. Other attributes are hints.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);
cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig config);
/// By threads and shared memory; registers are nvcc's, and not known.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_threads,
                                                          std::size_t dynamic_shared);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int block_threads,
                                                                   std::size_t dynamic_shared, unsigned flags);
/// `arguments` points at each of them. The kernel's parameters, of which this knows nothing, must be numbers and
/// pointers; the template in launch.hpp takes any.
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr);
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr);

// ---- Templates, as CUDA has them: for a pointer to anything, a kernel of any type, a variable.

#define SIMT_INLINED \
  template <class T> \
  [[gnu::always_inline]] inline
SIMT_INLINED void** simt_untyped(T** pointer) {
  return static_cast<void**>(static_cast<void*>(pointer));
}
SIMT_INLINED cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return cudaMalloc(simt_untyped(pointer), bytes);
}
SIMT_INLINED cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(simt_untyped(pointer), bytes, flags);
}
SIMT_INLINED cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return cudaMallocPitch(simt_untyped(pointer), pitch, width, height);
}
SIMT_INLINED cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(simt_untyped(pointer), bytes, stream);
}
SIMT_INLINED cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t bytes, cudaMemPool_t pool,
                                                 cudaStream_t stream) {
  return cudaMallocFromPoolAsync(simt_untyped(pointer), bytes, pool, stream);
}
SIMT_INLINED cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(simt_untyped(pointer), bytes, pool, stream);
}
SIMT_INLINED cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaMallocHost(simt_untyped(pointer), bytes, flags);
}
SIMT_INLINED cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(simt_untyped(pointer), bytes, flags);
}
SIMT_INLINED cudaError_t cudaHostGetDevicePointer(T** of_device, void* of_host, unsigned flags) {
  return cudaHostGetDevicePointer(simt_untyped(of_device), of_host, flags);
}

SIMT_INLINED cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
SIMT_INLINED cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
SIMT_INLINED cudaError_t cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}
SIMT_INLINED cudaError_t cudaFuncSetSharedMemConfig(T* kernel, cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(kernel), config);
}
SIMT_INLINED cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* kernel, int block_threads,
                                                                       std::size_t dynamic_shared) {
  const auto* const any = reinterpret_cast<const void*>(kernel);
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, any, block_threads, dynamic_shared);
}
SIMT_INLINED cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T* kernel,
                                                                                int block_threads,
                                                                                std::size_t dynamic_shared, unsigned) {
  const auto* const any = reinterpret_cast<const void*>(kernel);
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, any, block_threads, dynamic_shared);
}
/// The block with which most threads are resident, and the fewest such blocks that fill the device.
template <class T, class SharedOfBlock>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, T* kernel, SharedOfBlock shared,
                                                           int most_threads = 0) {
  int best = 0, multiprocessors = 0;
  cudaError_t error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  for (int threads = most_threads > 0 && most_threads < 1024 ? most_threads / 32 * 32 : 1024;
       error == cudaSuccess && threads > 0; threads -= 32) {
    int blocks = 0;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared(threads));
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * multiprocessors;
  }
  return error;
}
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, T* kernel, std::size_t dynamic_shared = 0,
                                               int most_threads = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [dynamic_shared](int) { return dynamic_shared; }, most_threads);
}

SIMT_INLINED cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes,
                                            std::size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return simt::copy_to_symbol(simt::symbol_of(symbol), from, bytes, offset, kind);
}
SIMT_INLINED cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return simt::copy_from_symbol(to, simt::symbol_of(symbol), bytes, offset, kind);
}
SIMT_INLINED cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes,
                                                 std::size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                 cudaStream_t stream = nullptr) {
  return simt::copy_to_symbol_async(simt::symbol_of(symbol), from, bytes, offset, kind, stream);
}
SIMT_INLINED cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                                   cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                   cudaStream_t stream = nullptr) {
  return simt::copy_from_symbol_async(to, simt::symbol_of(symbol), bytes, offset, kind, stream);
}
SIMT_INLINED cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  return simt::address_of_symbol(address, simt::symbol_of(symbol));
}
SIMT_INLINED cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T& symbol) {
  return simt::size_of_symbol(bytes, simt::symbol_of(symbol));
}
#undef SIMT_INLINED

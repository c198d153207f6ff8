#include "common/simt/runtime/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/simt/language/device_functions.hpp"
#include "common/simt/language/virtual_device.hpp"
#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/queue.hpp"

namespace simt {
namespace {

// CUDA C++ Programming Guide, "Compute Capabilities", and the data sheet of one model of each family.
struct Family {
  int sm;
  const char* model;
  int memory_gb, bus_bits, memory_mhz, mhz, l2_kb;
  int shared_kb, optin_kb, threads, blocks;  // of a multiprocessor; of a block; of a multiprocessor
  int double_ratio;
};
constexpr Family families[] = {
    {70, "Tesla V100", 16, 4096, 877, 1530, 6144, 96, 96, 2048, 32, 2},
    {75, "Tesla T4", 16, 256, 5001, 1590, 4096, 64, 64, 1024, 16, 32},
    {80, "A100", 40, 5120, 1215, 1410, 40960, 164, 163, 2048, 32, 2},
    {86, "GeForce RTX 3090", 24, 384, 9751, 1695, 6144, 100, 99, 1536, 16, 64},
    {89, "GeForce RTX 4090", 24, 384, 10501, 2520, 73728, 100, 99, 1536, 24, 64},
    {90, "H100", 80, 5120, 2619, 1980, 51200, 228, 227, 2048, 32, 2},
    {100, "B200", 180, 8192, 3996, 1965, 129024, 228, 227, 2048, 32, 2},
    {120, "GeForce RTX 5090", 32, 512, 14001, 2407, 98304, 100, 99, 1536, 24, 64},
};

const Family& family() {
  static const Family& known = []() -> const Family& {
    const char* const told = std::getenv("SIMT_SM");
    const std::string text = told && *told ? told : "90";
    for (const Family& each : families) {
      if (std::to_string(each.sm) == text) return each;
    }
    std::fprintf(stderr, "SIMT_SM=%s: the CPU executor knows 70, 75, 80, 86, 89, 90, 100 and 120\n", text.c_str());
    std::exit(2);
  }();
  return known;
}

// Addresses that the executor has to give away, and more than any machine that it runs on is likely to have.
constexpr std::size_t most_memory = std::size_t{48} << 30;
constexpr std::size_t kb = 1024;

cudaDeviceProp made_properties() {
  const Family& f = family();
  cudaDeviceProp p{};
  const std::string name = fmt::format("CPU executor (as a small {}, sm_{})", f.model, f.sm);
  std::memcpy(p.name, name.c_str(), name.size());
  p.totalGlobalMem = std::min(static_cast<std::size_t>(f.memory_gb) << 30, most_memory);
  p.sharedMemPerBlock = 48 * kb;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = 1024;
  std::ranges::copy(std::array{1024, 1024, 64}, p.maxThreadsDim);
  std::ranges::copy(std::array{0x7fffffff, 65535, 65535}, p.maxGridSize);
  p.clockRate = f.mhz * 1000;
  p.totalConstMem = 64 * kb;
  p.major = f.sm / 10;
  p.minor = f.sm % 10;
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
  p.deviceOverlap = 1;
  p.multiProcessorCount = static_cast<int>(virtual_device::multiprocessors);
  p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = p.managedMemory = p.concurrentManagedAccess = 1;
  p.asyncEngineCount = 2;
  p.memoryClockRate = f.memory_mhz * 1000;
  p.memoryBusWidth = f.bus_bits;
  p.l2CacheSize = f.l2_kb * static_cast<int>(kb);
  p.maxThreadsPerMultiProcessor = f.threads;
  p.sharedMemPerMultiprocessor = f.shared_kb * kb;
  p.singleToDoublePrecisionPerfRatio = f.double_ratio;
  p.computePreemptionSupported = p.cooperativeLaunch = p.hostRegisterSupported = p.memoryPoolsSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.sharedMemPerBlockOptin = f.optin_kb * kb;
  p.maxBlocksPerMultiProcessor = f.blocks;
  p.reservedSharedMemPerBlock = f.sm >= 80 ? virtual_device::shared_of_system : 0;
  p.clusterLaunch = 0;
  return p;
}

cudaFuncCache cache_config = cudaFuncCachePreferNone;
cudaSharedMemConfig bank_config = cudaSharedMemBankSizeFourByte;
unsigned device_flags = 0;
std::size_t limits[] = {1024, std::size_t{1} << 20, std::size_t{8} << 20, 2, 2048, 64, 0};

}  // namespace

int compute_capability() {
  return family().sm;
}
const cudaDeviceProp& device_properties() {
  static const cudaDeviceProp properties = made_properties();
  return properties;
}

namespace {

// False: nobody knows it.
bool attribute_of(cudaDeviceAttr attribute, int& value) {
  const cudaDeviceProp& p = device_properties();
  const auto is = [&value](auto number) {
    value = static_cast<int>(number);
    return true;
  };
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return is(p.maxThreadsPerBlock);
    case cudaDevAttrMaxBlockDimX:
      return is(p.maxThreadsDim[0]);
    case cudaDevAttrMaxBlockDimY:
      return is(p.maxThreadsDim[1]);
    case cudaDevAttrMaxBlockDimZ:
      return is(p.maxThreadsDim[2]);
    case cudaDevAttrMaxGridDimX:
      return is(p.maxGridSize[0]);
    case cudaDevAttrMaxGridDimY:
      return is(p.maxGridSize[1]);
    case cudaDevAttrMaxGridDimZ:
      return is(p.maxGridSize[2]);
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return is(p.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory:
      return is(p.totalConstMem);
    case cudaDevAttrWarpSize:
      return is(p.warpSize);
    case cudaDevAttrMaxPitch:
      return is(p.memPitch);
    case cudaDevAttrMaxRegistersPerBlock:
      return is(p.regsPerBlock);
    case cudaDevAttrClockRate:
      return is(p.clockRate);
    case cudaDevAttrTextureAlignment:
      return is(p.textureAlignment);
    case cudaDevAttrTexturePitchAlignment:
      return is(p.texturePitchAlignment);
    case cudaDevAttrMultiProcessorCount:
      return is(p.multiProcessorCount);
    case cudaDevAttrComputeMode:
      return is(p.computeMode);
    case cudaDevAttrAsyncEngineCount:
      return is(p.asyncEngineCount);
    case cudaDevAttrMemoryClockRate:
      return is(p.memoryClockRate);
    case cudaDevAttrGlobalMemoryBusWidth:
      return is(p.memoryBusWidth);
    case cudaDevAttrL2CacheSize:
      return is(p.l2CacheSize);
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return is(p.maxThreadsPerMultiProcessor);
    case cudaDevAttrComputeCapabilityMajor:
      return is(p.major);
    case cudaDevAttrComputeCapabilityMinor:
      return is(p.minor);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return is(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return is(p.regsPerMultiprocessor);
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return is(p.singleToDoublePrecisionPerfRatio);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return is(p.sharedMemPerBlockOptin);
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return is(p.maxBlocksPerMultiProcessor);
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return is(p.reservedSharedMemPerBlock);
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
      return is(1);
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrIntegrated:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrMultiGpuBoardGroupID:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrCooperativeMultiDeviceLaunch:
    case cudaDevAttrClusterLaunch:
      return is(0);
  }
  return false;
}

template <class T>
cudaError_t give(T* to, T value) {
  if (!to) return cudaErrorInvalidValue;
  *to = value;
  return cudaSuccess;
}

cudaError_t reset() {
  wait_for_all();
  mend_context();
  return cudaSuccess;
}

cudaError_t set_limit(const Call& call, cudaLimit limit, std::size_t value) {
  return enter(call, [&] {
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return cudaErrorUnsupportedLimit;
    if (limit == cudaLimitMallocHeapSize) set_heap_limit(value);
    return give(&limits[limit], value);
  });
}
cudaError_t get_limit(const Call& call, std::size_t* value, cudaLimit limit) {
  return enter(call, [&] {
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return cudaErrorUnsupportedLimit;
    return give(value, limits[limit]);
  });
}

}  // namespace
}  // namespace simt

using simt::enter;
using simt::give;

cudaError_t cudaGetDeviceCount(int* count) {
  return enter(SIMT_CALL("cudaGetDeviceCount()"), [&] { return give(count, 1); });
}
cudaError_t cudaSetDevice(int device) {
  return enter(SIMT_CALL("cudaSetDevice()"), [&] { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
cudaError_t cudaGetDevice(int* device) {
  return enter(SIMT_CALL("cudaGetDevice()"), [&] { return give(device, 0); });
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return enter(SIMT_CALL("cudaChooseDevice()"), [&] { return wanted ? give(device, 0) : cudaErrorInvalidValue; });
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return enter(SIMT_CALL("cudaInitDevice()"), [&] { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return enter(SIMT_CALL("cudaGetDeviceProperties()"),
               [&] { return device == 0 ? give(properties, simt::device_properties()) : cudaErrorInvalidDevice; });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return enter(SIMT_CALL("cudaDeviceGetAttribute()"), [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    return value && simt::attribute_of(attribute, *value) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return enter(SIMT_CALL("cudaDeviceGetPCIBusId()"), [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (!text || length < 13) return cudaErrorInvalidValue;
    std::memcpy(text, "0000:00:00.0", 13);
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSynchronize() {
  return enter(SIMT_CALL("cudaDeviceSynchronize()"), [] { return simt::wait_for_all(); });
}
cudaError_t cudaThreadSynchronize() {
  return enter(SIMT_CALL("cudaThreadSynchronize()"), [] { return simt::wait_for_all(); });
}
cudaError_t cudaDeviceReset() {
  const simt::Entered entered(SIMT_CALL("cudaDeviceReset()"));
  return simt::reset();
}
cudaError_t cudaThreadExit() {
  const simt::Entered entered(SIMT_CALL("cudaThreadExit()"));
  return simt::reset();
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return enter(SIMT_CALL("cudaSetDeviceFlags()"), [&] { return give(&simt::device_flags, flags); });
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return enter(SIMT_CALL("cudaGetDeviceFlags()"), [&] { return give(flags, simt::device_flags); });
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return simt::set_limit(SIMT_CALL("cudaDeviceSetLimit()"), limit, value);
}
cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) {
  return simt::set_limit(SIMT_CALL("cudaThreadSetLimit()"), limit, value);
}
cudaError_t cudaCtxResetPersistingL2Cache() {
  return enter(SIMT_CALL("cudaCtxResetPersistingL2Cache()"), [] { return cudaSuccess; });
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return simt::get_limit(SIMT_CALL("cudaDeviceGetLimit()"), value, limit);
}
cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit) {
  return simt::get_limit(SIMT_CALL("cudaThreadGetLimit()"), value, limit);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return enter(SIMT_CALL("cudaDeviceSetCacheConfig()"), [&] { return give(&simt::cache_config, config); });
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return enter(SIMT_CALL("cudaDeviceGetCacheConfig()"), [&] { return give(config, simt::cache_config); });
}
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return enter(SIMT_CALL("cudaThreadSetCacheConfig()"), [&] { return give(&simt::cache_config, config); });
}
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return enter(SIMT_CALL("cudaThreadGetCacheConfig()"), [&] { return give(config, simt::cache_config); });
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return enter(SIMT_CALL("cudaDeviceSetSharedMemConfig()"), [] { return cudaSuccess; });
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return enter(SIMT_CALL("cudaDeviceGetSharedMemConfig()"), [&] { return give(config, simt::bank_config); });
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) {
  return enter(SIMT_CALL("cudaDeviceGetP2PAttribute()"),
               [&] { return value ? cudaErrorInvalidDevice : cudaErrorInvalidValue; });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  return enter(SIMT_CALL("cudaDeviceCanAccessPeer()"),
               [&] { return can ? cudaErrorInvalidDevice : cudaErrorInvalidValue; });
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return enter(SIMT_CALL("cudaDeviceEnablePeerAccess()"), [] { return cudaErrorInvalidDevice; });
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
  return enter(SIMT_CALL("cudaDeviceDisablePeerAccess()"), [] { return cudaErrorInvalidDevice; });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return enter(SIMT_CALL("cudaDriverGetVersion()"), [&] { return give(version, CUDART_VERSION); });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return enter(SIMT_CALL("cudaRuntimeGetVersion()"), [&] { return give(version, CUDART_VERSION); });
}
cudaError_t cudaProfilerStart() {
  return enter(SIMT_CALL("cudaProfilerStart()"), [] { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return enter(SIMT_CALL("cudaProfilerStop()"), [] { return cudaSuccess; });
}

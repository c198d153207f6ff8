#include "common/simt/runtime/pools.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "common/simt/language/runtime.hpp"
#include "common/simt/runtime/call.hpp"

struct CUmemPool_st {
  std::uint64_t threshold = 0, used = 0, most_used = 0;
};

namespace {

struct Pools {
  CUmemPool_st first;
  cudaMemPool_t present = &first;
  std::vector<std::unique_ptr<CUmemPool_st>> made;
  std::map<const void*, std::pair<cudaMemPool_t, std::size_t>> allocations;
};
Pools& pools() {
  static Pools& all = *new Pools;
  return all;
}

bool is_device(int device) {
  return device == 0;
}
bool is_own(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice && is_device(location.id);
}

}  // namespace

namespace simt {

cudaMemPool_t present_pool() {
  return pools().present;
}
bool is_pool(cudaMemPool_t pool) {
  const auto& made = pools().made;
  return pool == &pools().first || std::ranges::find(made, pool, &std::unique_ptr<CUmemPool_st>::get) != made.end();
}
void add_to_pool(cudaMemPool_t pool, const void* pointer, std::size_t bytes) {
  if (!pointer) return;
  pools().allocations[pointer] = {pool, bytes};
  pool->used += bytes;
  pool->most_used = std::max(pool->most_used, pool->used);
}
void remove_from_pool(const void* pointer) {
  const auto at = pools().allocations.find(pointer);
  if (at == pools().allocations.end()) return;
  const auto [pool, bytes] = at->second;
  if (is_pool(pool)) pool->used -= bytes;
  pools().allocations.erase(at);
}

}  // namespace simt

using simt::enter;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return enter(SIMT_CALL("cudaDeviceGetDefaultMemPool()"), [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (!pool) return cudaErrorInvalidValue;
    *pool = &pools().first;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return enter(SIMT_CALL("cudaDeviceGetMemPool()"), [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (!pool) return cudaErrorInvalidValue;
    *pool = pools().present;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return enter(SIMT_CALL("cudaDeviceSetMemPool()"), [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (!simt::is_pool(pool)) return cudaErrorInvalidValue;
    pools().present = pool;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return enter(SIMT_CALL("cudaMemPoolCreate()"), [&] {
    const bool fits =
        pool && properties && properties->allocType == cudaMemAllocationTypePinned && is_own(properties->location);
    if (!fits) return cudaErrorInvalidValue;
    *pool = pools().made.emplace_back(new CUmemPool_st).get();
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return enter(SIMT_CALL("cudaMemPoolDestroy()"), [&] {
    if (!simt::is_pool(pool) || pool == &pools().first) return cudaErrorInvalidValue;
    if (pools().present == pool) pools().present = &pools().first;
    std::erase_if(pools().made, [&](const auto& each) { return each.get() == pool; });
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return enter(SIMT_CALL("cudaMemPoolSetAttribute()"), [&] {
    if (!simt::is_pool(pool) || !value) return cudaErrorInvalidValue;
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
      pool->threshold = *static_cast<const std::uint64_t*>(value);
    } else if (attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh) {
      pool->most_used = pool->used;  // 0 is all that it may be set to
    } else if (attribute > cudaMemPoolAttrReleaseThreshold) {
      return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return enter(SIMT_CALL("cudaMemPoolGetAttribute()"), [&] {
    if (!simt::is_pool(pool) || !value || attribute < cudaMemPoolAttrReleaseThreshold) return cudaErrorInvalidValue;
    const bool is_highest = attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh;
    *static_cast<std::uint64_t*>(value) = attribute == cudaMemPoolAttrReleaseThreshold ? pool->threshold
                                          : is_highest                                 ? pool->most_used
                                                                                       : pool->used;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* rights, std::size_t count) {
  return enter(SIMT_CALL("cudaMemPoolSetAccess()"), [&] {
    if (!simt::is_pool(pool) || (count > 0 && !rights)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_own(rights[i].location)) return cudaErrorInvalidDevice;
      if (rights[i].flags != cudaMemAccessFlagsProtReadWrite) return cudaErrorInvalidValue;  // it can't lose them
    }
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return enter(SIMT_CALL("cudaMemPoolGetAccess()"), [&] {
    if (!flags || !location || !simt::is_pool(pool)) return cudaErrorInvalidValue;
    if (!is_own(*location)) return cudaErrorInvalidDevice;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return enter(SIMT_CALL("cudaMemPoolTrimTo()"),
               [&] { return simt::is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue; });
}

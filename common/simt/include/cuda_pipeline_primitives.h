// Stands in for CUDA's header of the same name: asynchronous copies to shared memory by single threads.
#pragma once

#include "common/simt/language/access.hpp"
#include "common/simt/language/language.hpp"

/// Begins to copy `bytes` bytes (4, 8 or 16) to shared memory, the last `zeros` of which become 0.
SIMT_INLINE void __pipeline_memcpy_async(void* __restrict__ to, const void* __restrict__ from, std::size_t bytes,
                                         std::size_t zeros = 0) {
  simt::async_copy(to, from, bytes - zeros, zeros, simt::here());
}
/// What has begun since the last commit is one more batch.
SIMT_INLINE void __pipeline_commit() {
  simt::async_commit();
}
/// Waits for all batches of the calling thread but the latest `prior`.
SIMT_INLINE void __pipeline_wait_prior(std::size_t prior) {
  simt::async_wait(static_cast<int>(prior));
}

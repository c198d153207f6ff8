// Pools of memory, as far as a program can see them. Internal to common/simt/; call with the runtime entered.
#pragma once

#include <cstddef>

#include "common/simt/language/runtime_types.hpp"

namespace simt {

/// Whose memory cudaMallocAsync() gives.
cudaMemPool_t present_pool();
bool is_pool(cudaMemPool_t pool);
void add_to_pool(cudaMemPool_t pool, const void* pointer, std::size_t bytes);
/// If it is of a pool, it is no more.
void remove_from_pool(const void* pointer);

}  // namespace simt

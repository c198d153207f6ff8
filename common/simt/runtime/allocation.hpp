// Memory is allocated and freed. Internal to common/simt/; call with the runtime entered.
#pragma once

#include <cstddef>
#include <functional>

#include "common/simt/runtime/pieces.hpp"

namespace simt {

/// What the system and the device could still hand out.
std::size_t free_bytes();
/// Null, and no error, for no bytes.
cudaError_t allocate(void** pointer, std::size_t bytes, Home home, const Call& call);
/// What a stream does to free it.
std::function<cudaError_t()> freeing(const Piece& piece, const Call& call);

}  // namespace simt

// Sectors that rows of B share with others, brought to the L2 cache before they are stored.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/ptx.cuh"

namespace gemm::generated {

/// Brings the sectors to the L2 cache in which a row of N elements begins or ends, if other elements lie there, too: to
/// store a part of a sector that is not there takes long. `ld` elements before it another row begins, if `another`, for
/// which that is done as well. Not of rows shorter than a sector: without it they take as long, or little more than half.
template <class T, int N>
__device__ void prefetch_ends(const T* row, std::int64_t ld, bool another) {
  if constexpr (N * sizeof(T) < 32) return;
  const auto sector = [](const T* at) { return reinterpret_cast<std::uint64_t>(at) / 32; };
  const T* const end = row + N;
  const bool before = another && sector(row - ld + (N - 1)) == sector(row);
  if (reinterpret_cast<std::uint64_t>(row) % 32 != 0 && !before) ptx::prefetch_sector(row);
  if (reinterpret_cast<std::uint64_t>(end) % 32 != 0 && sector(end - 1) != sector(row)) ptx::prefetch_sector(end - 1);
}

}  // namespace gemm::generated

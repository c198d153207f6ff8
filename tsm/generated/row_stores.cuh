// Rows of B, from shared memory to wherever they begin in device memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "common/kernel/ptx.cuh"
#include "tsm/generated/stream.cuh"

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

/// A warp stores rows of N elements, of which `existing` exist, `rows` at most, to `to` and every `ld` elements from
/// there: B = word + beta B if `adds`. Lanes side by side have elements side by side, and a sector of 32 bytes belongs to
/// neighbours in one store: so a row begins amid its lanes where it begins amid a sector. place(r): where row r lies in
/// shared memory.
template <class T, int N, int rows, class Place>
__device__ void store_rows(T* to, std::int64_t ld, int existing, int lane, T beta, bool adds, Place place) {
  constexpr int element = sizeof(T), sector = 32 / element, lanes = ceil_div(N + sector - 1, sector) * sector,
                count = ceil_div(rows * lanes, 32), together = smaller(count, 4);
  const int first = static_cast<int>(reinterpret_cast<std::uint64_t>(to) / element % sector),
            further = static_cast<int>(ld % sector);
  int row = lane / lanes, at = lane % lanes;
#pragma unroll 1
  for (int i = 0; i < count; i += together) {
    T word[together], *its[together];
    bool has[together];
#pragma unroll
    for (int u = 0; u < together; ++u) {
      const int col = at - (first + row * further) % sector;
      has[u] = row < existing && col >= 0 && col < N;
      its[u] = to + (row * ld + col);
      if (has[u]) load_unit<1>(&word[u], place(row) + col * element);
      at += 32 % lanes;
      row += 32 / lanes + (at >= lanes);
      if (at >= lanes) at -= lanes;
    }
#pragma unroll
    for (int u = 0; u < together; ++u) {
      if (has[u]) *its[u] = adds ? multiply_add(beta, *its[u], word[u]) : word[u];
    }
  }
}

}  // namespace gemm::generated

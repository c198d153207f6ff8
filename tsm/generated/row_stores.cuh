// Rows of B, from shared memory to wherever they begin in device memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/row_ends.cuh"
#include "tsm/generated/stream.cuh"

namespace gemm::generated {

/// A warp stores `count` elements, `most` at most, side by side from `to` on: B = word + beta B if `adds`. A line of 128
/// bytes belongs to one store, wherever the range begins: what completes a sector later costs as much as a read.
/// place(i): where word i lies in shared memory.
template <class T, int most, class Place>
__device__ void store_range(T* to, int count, int lane, T beta, bool adds, Place place) {
  constexpr int line = 128 / sizeof(T), stores = ceil_div(most + line - 1, 32), together = smaller(stores, 4);
  int at = lane - static_cast<int>(reinterpret_cast<std::uint64_t>(to) / sizeof(T) % line);
#pragma unroll 1
  for (int i = 0; i < stores; i += together) {
    T word[together];
    const auto has = [&](int u) { return at + u * 32 >= 0 && at + u * 32 < count; };
#pragma unroll
    for (int u = 0; u < together; ++u) {
      if (has(u)) load_unit<1>(&word[u], place(at + u * 32));
    }
#pragma unroll
    for (int u = 0; u < together; ++u) {
      T* const its = to + (at + u * 32);
      if (has(u)) *its = adds ? multiply_add(beta, *its, word[u]) : word[u];
    }
    at += together * 32;
  }
}

/// A warp stores so many pieces of 16 bytes side by side, from an address that 32 divides, or else `displaced`.
template <int pieces, bool displaced, class Place>
__device__ void store_pieces(double2* to, int lane, Place place) {
  if constexpr (displaced) return store_range<double2, pieces>(to, pieces, lane, {}, false, place);
#pragma unroll 8
  for (int i = lane; i < pieces; i += 32) {
    double2 piece;
    ptx::load_shared(piece.x, piece.y, place(i));
    to[i] = piece;
  }
}

/// A warp stores rows of N elements, of which `existing` exist, `rows` at most, to `to` and every `ld` elements from
/// there, as store_range() does where these are one range. Else a row has all lanes, or half of them, a fourth or an
/// eighth, and begins amid them where it begins amid a sector of 32 bytes: so a sector belongs to one store. place(r):
/// where row r lies in shared memory.
template <class T, int N, int rows, class Place>
__device__ void store_rows(T* to, std::int64_t ld, int existing, int lane, T beta, bool adds, Place place) {
  constexpr int element = sizeof(T);
  if (ld == N) {
    const auto place_of = [&](unsigned i) { return place(i / N) + i % N * element; };
    return store_range<T, rows * N>(to, existing * N, lane, beta, adds, place_of);
  }
  constexpr int sector = 32 / element, width = N + sector - 1;
  constexpr int lanes = width > 16 ? 32 : width > 8 ? 16 : width > 4 ? 8 : 4, at_a_time = 32 / lanes;
  constexpr int stores = ceil_div(width, lanes), turns = ceil_div(rows, at_a_time);
  constexpr int together = smaller(turns, stores * element <= 24 ? 4 : 2);
  const int first = lane / lanes;
  T* row = to + first * ld;
#pragma unroll 1
  for (int i = 0; i < turns; i += together) {
    T word[together][stores], *its[together];
    bool has[together][stores];
#pragma unroll
    for (int u = 0; u < together; ++u) {
      const int r = (i + u) * at_a_time + first;
      const int col = lane % lanes - static_cast<int>(reinterpret_cast<std::uint64_t>(row) / element % sector);
      const ptx::SharedAddress from = place(r) + col * element;
      its[u] = row + col;
#pragma unroll
      for (int j = 0; j < stores; ++j) {
        const bool inside = j > 0 && (j + 1) * lanes <= N;  // wherever the row begins
        has[u][j] = r < existing && (inside || static_cast<unsigned>(col + j * lanes) < N);
        if (has[u][j]) load_unit<1>(&word[u][j], from + j * (lanes * element));
      }
      row += at_a_time * ld;
    }
    if (adds) {
#pragma unroll
      for (int u = 0; u < together; ++u) {
#pragma unroll
        for (int j = 0; j < stores; ++j) {
          if (has[u][j]) word[u][j] = multiply_add(beta, its[u][j * lanes], word[u][j]);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < together; ++u) {
#pragma unroll
      for (int j = 0; j < stores; ++j) {
        if (has[u][j]) its[u][j * lanes] = word[u][j];
      }
    }
  }
}

}  // namespace gemm::generated

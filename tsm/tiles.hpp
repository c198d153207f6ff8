// Stages 05 to 08: how a kernel's tiles of C partition C and K among threads, and which tile a problem gets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/kernel/launch.cuh"
#include "common/problem/problem.hpp"

namespace gemm::tiles {

inline constexpr int THREADS = 128;   // of a block
inline constexpr int ENOUGH = 20000;  // bytes in flight per SM
template <class T>
inline constexpr int WIDEST = sizeof(T) == sizeof(double) ? 8 : 4;  // 8 x 8 complex sums would be 256 registers

/// A slice is `threads` threads, which together have all tiles of C, or one of `groups` groups of them.
struct Cut {
  int threads, groups, slices, places;

  constexpr Cut(int tm, int tn, int blocks, int m, int n, int sms) {
    const int tiles = std::max(ceil_div(m, tm) * ceil_div(n, tn), 1);
    threads = std::min(tiles, THREADS);
    groups = ceil_div(tiles, threads);
    slices = THREADS / threads;
    places = std::max(sms * blocks / groups, 1);  // for chunks of K
  }
  /// Of K, with at least `rows` rows for each slice.
  constexpr int chunks(std::int64_t k, int rows = 1) const {
    return static_cast<int>(std::min<std::int64_t>((k + rows * slices - 1) / (rows * slices), places));
  }
};

/// A tile's size, the blocks of its kernel that an SM's registers allow, and its launch.
template <class T, class... Options>
struct Tile {
  int tm, tn, blocks;
  Status (*launch)(const TsmttsmProblem<T>&, Options..., cudaStream_t);

  constexpr Cut cut(int m, int n, int sms) const { return Cut(tm, tn, blocks, m, n, sms); }
  constexpr int bytes_in_flight(int m, int n) const {  // per SM, a row for each slice
    return cut(m, n, 1).places * cut(m, n, 1).slices * (m + n) * static_cast<int>(sizeof(T));
  }
};

/// The smallest with enough bytes in flight, or else the largest of those with the most.
template <class Tile, std::size_t COUNT>
constexpr const Tile& choose(const Tile (&tiles)[COUNT], int m, int n) {
  const Tile* best = tiles;
  for (const Tile& tile : tiles) {
    const int most = best->bytes_in_flight(m, n);
    if (most < ENOUGH && tile.bytes_in_flight(m, n) >= most) best = &tile;
  }
  return *best;
}

}  // namespace gemm::tiles

// Stages 05 to 08: which tile a problem gets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/kernel/launch.cuh"
#include "common/problem/problem.hpp"
#include "tsm/cut.hpp"

namespace gemm::tiles {

inline constexpr int THREADS = 128;   // of a block
inline constexpr int ENOUGH = 20000;  // bytes in flight per SM
template <class T>
inline constexpr int WIDEST = sizeof(T) == sizeof(double) ? 8 : 4;  // 8 x 8 complex sums would be 256 registers

/// A tile's size, the blocks of its kernel that an SM's registers allow, and its launch.
template <class T, class... Options>
struct Tile {
  int tm, tn, blocks;
  Status (*launch)(const TsmttsmProblem<T>&, Options..., cudaStream_t);

  constexpr Cut cut(int m, int n, int sms) const {
    return Cut(ceil_div(m, tm) * ceil_div(n, tn), blocks, sms, THREADS);
  }
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

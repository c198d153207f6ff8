// Stages 02 to 08: how threads and blocks partition C and K.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/kernel/launch.cuh"

namespace gemm::tiles {

/// A slice is `threads` threads, at most `most`, each with a tile of C. So it has all `tiles` tiles, or one of `groups`
/// groups of them. A block has `slices` slices, each with a row of K at a time. An SM has room for `blocks` blocks.
struct Cut {
  int threads, groups, slices, places;

  constexpr Cut(int tiles, int blocks, int sms, int threads_of_block, int most = 1024) {
    threads = std::clamp(tiles, 1, std::min(most, threads_of_block));
    groups = std::max(ceil_div(tiles, threads), 1);
    slices = threads_of_block / threads;
    places = std::max(sms * blocks / groups, 1);  // for chunks of K
  }
  /// Of K, with at least `rows` rows for each slice.
  constexpr int chunks(std::int64_t k, int rows = 1) const {
    return static_cast<int>(std::min<std::int64_t>((k + rows * slices - 1) / (rows * slices), places));
  }
};

}  // namespace gemm::tiles

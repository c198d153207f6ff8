// How much of global memory each block of a launch touches: whether blocks share the work, or one of them does it all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <unordered_set>

#include "common/simt/observe/warp_request.hpp"

namespace simt {

class TouchedSectors {
 public:
  /// What an Inspection's on_request is told.
  void add(const WarpRequest& request) {
    if (request.shared) return;
    const auto& [x, y, z] = request.block;
    std::unordered_set<std::uint64_t>& sectors = of_block_[{request.launch_number, x, y, z}];
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      if (!(request.mask >> lane & 1)) continue;
      const std::uint64_t first = request.address[lane];
      for (std::uint64_t s = first / sector_bytes; s <= (first + request.bytes - 1) / sector_bytes; ++s)
        sectors.insert(s);
    }
  }

  /// Different sectors of 32 bytes, of the block with the most of them.
  std::uint64_t most_of_a_block() const {
    std::size_t most = 0;
    for (const auto& [block, sectors] : of_block_) most = std::max(most, sectors.size());
    return most;
  }

 private:
  std::map<std::array<unsigned, 4>, std::unordered_set<std::uint64_t>> of_block_;  // launch, x, y, z
};

}  // namespace simt

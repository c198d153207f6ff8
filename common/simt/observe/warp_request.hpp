// One access of a warp, as the recorder has counted it: for whoever wants to see each of them (./lab trace).
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "common/simt/language/grid.hpp"
#include "common/simt/observe/memory_cost.hpp"

namespace simt {

struct WarpRequest {
  unsigned launch_number = 0;  ///< of the inspection, from 0 on
  Launch launch{};
  uint3 block{};
  unsigned warp = 0;           ///< of the block
  std::uint64_t barriers = 0;  ///< that the block has passed before
  std::uintptr_t pc = 0;       ///< the return address: source_lines.hpp makes a line of it
  bool shared = false, store = false, atomic = false;
  bool async =
      false;  ///< of cp.async: the load where it begins, the store to shared memory where the thread waits for it
  unsigned bytes = 0;  ///< of one lane's access
  LaneMask mask = 0;
  /// Of each lane in the mask: an address or, of shared memory, a place as in shared_memory.hpp.
  std::array<std::uint64_t, warp_lanes> address{};
  /// Of cp.async's stores: the address in global memory that each lane's bytes come from; 0: zeros.
  std::array<std::uint64_t, warp_lanes> source{};
  unsigned sectors = 0, lines = 0, wavefronts = 0, conflicts = 0;  ///< as in findings.hpp
};

using RequestObserver = std::function<void(const WarpRequest&)>;

}  // namespace simt

// What one access of a warp to memory costs: 32-byte sectors of global memory, wavefronts of shared memory. Pure
// functions of the addresses; tests/executor/test_memory_cost.cpp holds them against an H200, row by row.
#pragma once

#include <array>
#include <cstdint>

#include "common/simt/language/collective.hpp"

namespace simt {

inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned sector_bytes = 32;
inline constexpr unsigned line_bytes = 128;
inline constexpr unsigned banks = 32;
inline constexpr unsigned bank_bytes = 4;

/// One access of a warp: the lanes of `mask` touch `bytes` bytes each (1, 2, 4, 8 or 16) at address[lane], aligned.
struct WarpAccess {
  const std::uint64_t* address;
  LaneMask mask;
  unsigned bytes;
  bool store;
};

struct GlobalCost {
  unsigned sectors;  ///< distinct 32-byte sectors
  unsigned lines;    ///< distinct 128-byte lines: one look-up each in L1's tags
};
GlobalCost global_cost(const WarpAccess& access);

struct BankCost {
  unsigned wavefronts;  ///< cycles of the data banks
  unsigned conflicts;   ///< those of them that other addresses would have saved
};
/// Shared memory has 32 banks of 4 bytes, and a wavefront takes from each bank at most one word. Accesses of 8 and 16
/// bytes go in two and four phases of 16 and 8 lanes; a load (not a store) whose lanes n and n^1, or n and n^2, have
/// equal addresses throughout goes in half as many. L1 hits use the same banks.
BankCost bank_cost(const WarpAccess& access);

/// For each lane of the mask the wavefront that serves it, from 0 on; and how many of its phase come before that one: 0
/// unless other words lie in the same bank. Of other lanes 0.
struct LaneTurns {
  std::array<std::uint8_t, warp_lanes> wavefront{}, turn{};
};
LaneTurns turns_of_lanes(const WarpAccess& access);

}  // namespace simt

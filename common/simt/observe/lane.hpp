// What the executor knows of one CUDA thread while its block runs. Internal to common/simt/.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "common/simt/code/symbols.hpp"
#include "common/simt/language/collective.hpp"
#include "common/simt/language/grid.hpp"
#include "common/simt/observe/memory_cost.hpp"
#include "common/simt/observe/thread_order.hpp"

namespace simt {

/// A copy that cp.async has begun and nobody has waited for yet.
struct PendingCopy {
  void* to;
  const void* from;
  std::uint16_t bytes, zeros;
  Site site;  ///< a call site in a kernel
  std::uint32_t group;
};

struct CollectiveCall {
  LaneMask mask = 0;
  const char* operation = nullptr;
  void* mine = nullptr;
  void (*combine)(void* const*, LaneMask) = nullptr;
  bool orders_memory = false;
  bool needs_whole_warp = false;
  bool whoever_comes = false;  ///< not those of a mask, but all who stop here while the others can't go on
};

enum class LaneState : std::uint8_t { ready, buffer_full, at_barrier, in_collective, ended };

/// Accesses that a lane may record before the warp's records are put together.
inline constexpr unsigned record_capacity = 256;

/// What one access was, packed: site, whether it was atomic, shared and a store, and the logarithm of its bytes.
using Tag = std::uint32_t;
constexpr Tag make_tag(Site site, bool atomic, bool shared, bool store, unsigned log_bytes) {
  return site << 6 | Tag{atomic} << 5 | Tag{shared} << 4 | Tag{store} << 3 | log_bytes;
}
constexpr Site tag_site(Tag tag) {
  return tag >> 6;
}
constexpr bool tag_atomic(Tag tag) {
  return tag >> 5 & 1;
}
constexpr bool tag_shared(Tag tag) {
  return tag >> 4 & 1;
}
constexpr bool tag_store(Tag tag) {
  return tag >> 3 & 1;
}
constexpr unsigned tag_bytes(Tag tag) {
  return 1u << (tag & 7);
}

/// The accesses of one lane since its warp's records were last put together.
struct LaneRecords {
  Tag tags[record_capacity];
  // Eight more than needed: lanes' arrays a power of two apart would fall into the same cache sets.
  std::uint64_t addresses[record_capacity + 8];
};

struct alignas(64) Lane {
  // What each stop and each barrier of the block look at comes first, and together: there are hundreds of lanes.
  void* fiber = nullptr;     ///< where its run goes on: a FiberHandle
  std::uintptr_t stack = 0;  ///< its first byte
  LaneRecords* records = nullptr;
  unsigned recorded = 0;
  unsigned thread = 0;  ///< linear index in the block
  std::uint8_t warp = 0, lane = 0;
  LaneState state = LaneState::ended;
  bool whole_grid = false;  ///< the barrier that it waits at is the grid's
  bool gave_way = false;    ///< it has stopped without a full buffer, because it waits
  bool tile_is_here = false;
  bool has_passed = false;  ///< a barrier of the block
  Stamp clock = 0;          ///< now; never below the epoch's
  Site wait_site = 0;       ///< where it waits or has waited last, at a barrier or in a collective; 0: nowhere
  int predicate = 0;        ///< given to __syncthreads_and and its relatives
  unsigned tile = 0;        ///< threads of the tile at whose barrier it waits; 0: it is the block's, or the grid's

  // Whether it waits for others by reading: see Block::check_spin().
  std::uint64_t spins = 0;     ///< full buffers in a row that held reads of the same words only
  std::uint64_t full = 0;      ///< full buffers in a row, whatever they held
  std::uintptr_t watched = 0;  ///< where its last atomic or volatile access was
  std::uint64_t watched_value = 0;
  unsigned found = 0;               ///< how often in a row it found that value there
  std::uintptr_t spin_address = 0;  ///< what it waits for, if it spins: at wait_site

  ThreadContext context{};
  Stamp last_sync = 0;                   ///< clock before the latest __syncwarp()
  std::array<Stamp, warp_lanes> seen{};  ///< for each lane of the warp: up to when its accesses come before mine
  LaneOrder* order = nullptr;            ///< fences and what they order
  CollectiveCall call;
  const void* offer = nullptr;  ///< what its tile may see

  std::deque<PendingCopy> copies;
  std::uint32_t copy_group = 0;  ///< the group that copies now join
};

}  // namespace simt

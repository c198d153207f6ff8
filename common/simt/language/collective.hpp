// What the lanes of a warp do together: the one primitive beneath shuffles, votes, cooperative groups and wmma.
#pragma once

#include <cstdint>

namespace simt {

using LaneMask = std::uint32_t;  ///< bit l stands for lane l
inline constexpr LaneMask all_lanes = 0xffffffffu;

/// The calling thread's place in its warp: its linear index in the block, modulo 32.
unsigned lane_id();

/// The lanes of the calling thread's warp that exist and have not ended.
LaneMask live_lanes();

/// The lanes that are here together: waits until no lane of the warp can go on, and counts those that wait at this place.
LaneMask active_lanes();

/// Waits until every lane of `mask` has come here, has `combine` run once, and lets all go on. lanes[l] is what lane l
/// passed as `mine` (its operands, and room for its results), null for lanes outside the mask. `operation` names it in
/// reports. The lanes must agree on mask and operation, and the caller must be in the mask; who breaks that, or names
/// a lane that has ended, has made a mistake, which is reported. Accesses to memory within `combine` are not observed.
void collective(LaneMask mask, const char* operation, void* mine, void (*combine)(void* const* lanes, LaneMask mask));

/// The same for what needs all 32 lanes, as Tensor Core instructions do: a warp that lacks one makes a mistake. `pc` is
/// the place in the kernel.
void whole_warp(const char* operation, void* mine, void (*combine)(void* const* lanes, LaneMask mask), const void* pc);

/// __syncwarp(): as above, with nothing to combine; what the lanes wrote before it is visible to them after it.
void sync_warp(LaneMask mask);

/// The collective that the calling lane has just left should have given it a value of lane `source`, which took no part:
/// a mistake.
void missing_source(const char* operation, unsigned source);

}  // namespace simt

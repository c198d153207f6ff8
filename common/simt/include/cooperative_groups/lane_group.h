// Part of cooperative_groups.h: what groups within a warp have in common. Not a header of CUDA's.
#pragma once

#include "common/simt/language/language.hpp"

namespace cooperative_groups {

/// What all groups within a warp can do, given their lanes. Ballots and matches count lanes by rank in the group.
class LaneGroup {
 public:
  SIMT_INLINE void sync() const { __syncwarp(mask_); }
  SIMT_INLINE int any(int predicate) const { return __any_sync(mask_, predicate); }
  SIMT_INLINE int all(int predicate) const { return __all_sync(mask_, predicate); }
  SIMT_INLINE unsigned ballot(int predicate) const { return by_rank(__ballot_sync(mask_, predicate)); }
  template <class T>
  SIMT_INLINE unsigned match_any(T value) const {
    return by_rank(__match_any_sync(mask_, value));
  }
  template <class T>
  SIMT_INLINE unsigned match_all(T value, int& predicate) const {
    return by_rank(__match_all_sync(mask_, value, &predicate));
  }

  /// The executor's: the lanes.
  unsigned mask() const { return mask_; }
  /// The executor's: the lane of a given rank: the rank-th set bit; the caller's if there is no such rank.
  unsigned lane_of(unsigned rank) const {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask_ >> lane & 1) && rank-- == 0) return lane;
    }
    return simt::lane_id();
  }

 protected:
  explicit LaneGroup(unsigned mask) : mask_(mask) {}

  unsigned rank_of_caller() const { return __popc(mask_ & ((1u << simt::lane_id()) - 1)); }
  unsigned by_rank(unsigned lanes) const {
    unsigned ranks = 0;
    for (unsigned lane = 0, rank = 0; lane < 32; ++lane) {
      if (mask_ >> lane & 1) ranks |= (lanes >> lane & 1) << rank++;
    }
    return ranks;
  }

  unsigned mask_;
};

}  // namespace cooperative_groups

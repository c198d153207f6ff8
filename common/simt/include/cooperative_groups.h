// Stands in for CUDA's header of the same name: grids, thread blocks, tiles of a warp, coalesced groups. Not there:
// clusters, memcpy_async, partitions by label, thread_group, tiles larger than a warp.
#pragma once

#include <type_traits>

#include "common/simt/include/cooperative_groups/grid_group.h"
#include "common/simt/language/language.hpp"

namespace cooperative_groups {

/// All threads of the block.
class thread_block {
 public:
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;  // x runs fastest
  }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }
};

inline thread_block this_thread_block() {
  return {};
}

/// What all groups within a warp can do, given their lanes. Ballots and matches count lanes by rank in the group.
class LaneGroup {
 public:
  void sync() const { __syncwarp(mask_); }
  int any(int predicate) const { return __any_sync(mask_, predicate); }
  int all(int predicate) const { return __all_sync(mask_, predicate); }
  unsigned ballot(int predicate) const { return by_rank(__ballot_sync(mask_, predicate)); }
  template <class T>
  unsigned match_any(T value) const {
    return by_rank(__match_any_sync(mask_, value));
  }
  template <class T>
  unsigned match_all(T value, int& predicate) const {
    return by_rank(__match_all_sync(mask_, value, &predicate));
  }

 protected:
  explicit LaneGroup(unsigned mask) : mask_(mask) {}

  /// The lane of a given rank: the rank-th set bit; the lane itself if there is no such rank.
  unsigned lane_of(unsigned rank) const {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask_ >> lane & 1) && rank-- == 0) return lane;
    }
    return simt::lane_id();
  }

  unsigned by_rank(unsigned lanes) const {
    unsigned ranks = 0;
    for (unsigned lane = 0, rank = 0; lane < 32; ++lane) {
      if (mask_ >> lane & 1) ranks |= (lanes >> lane & 1) << rank++;
    }
    return ranks;
  }

  unsigned mask_;
};

/// What tiles of Size threads share whatever they are part of.
template <unsigned Size>
class Tile : public LaneGroup {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  static unsigned thread_rank() { return simt::lane_id() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  /// The tile's place among the tiles that its parent splits into, and their number.
  unsigned meta_group_rank() const { return rank_; }
  unsigned meta_group_size() const { return count_; }

  template <class T>
  T shfl(T value, int rank) const {
    return simt::shuffle(mask_, value, rank, Size);
  }
  template <class T>
  T shfl_up(T value, unsigned delta) const {
    return simt::shuffle_up(mask_, value, delta, Size);
  }
  template <class T>
  T shfl_down(T value, unsigned delta) const {
    return simt::shuffle_down(mask_, value, delta, Size);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask) const {
    return simt::shuffle_xor(mask_, value, static_cast<int>(lane_mask), Size);
  }

 protected:
  Tile(unsigned parent_rank, unsigned parent_size)
      : LaneGroup((Size == 32 ? ~0u : (1u << Size % 32) - 1) << (simt::lane_id() & ~(Size - 1))),
        rank_(parent_rank / Size),
        count_((parent_size + Size - 1) / Size) {}

 private:
  unsigned rank_, count_;
};

/// Parent: the type of the group that was split. Every tile converts to one without, which is what functions take.
template <unsigned Size, class Parent = void>
class thread_block_tile : public Tile<Size> {
 public:
  explicit thread_block_tile(const Parent& parent) : Tile<Size>(parent.thread_rank(), parent.size()) {}
};

template <unsigned Size>
class thread_block_tile<Size, void> : public Tile<Size> {
 public:
  template <class Parent>
  thread_block_tile(const thread_block_tile<Size, Parent>& tile) : Tile<Size>(tile) {}
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  if constexpr (!std::is_same_v<Parent, thread_block>) {
    static_assert(Size < Parent::size(), "a tile must be smaller than the one that it is part of");
  }
  return thread_block_tile<Size, Parent>(parent);
}

/// Some lanes of a warp, as coalesced_threads() found them.
class coalesced_group : public LaneGroup {
 public:
  unsigned thread_rank() const { return __popc(mask_ & ((1u << simt::lane_id()) - 1)); }
  unsigned num_threads() const { return __popc(mask_); }
  unsigned size() const { return num_threads(); }
  static unsigned meta_group_rank() { return 0; }
  static unsigned meta_group_size() { return 1; }

  template <class T>
  T shfl(T value, unsigned rank) const {
    return simt::exchange(mask_, "coalesced_group::shfl", value, lane_of(rank));
  }
  template <class T>
  T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return simt::exchange(mask_, "coalesced_group::shfl_up", value, lane_of(rank >= delta ? rank - delta : rank));
  }
  template <class T>
  T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return simt::exchange(mask_, "coalesced_group::shfl_down", value, lane_of(delta < size() ? rank + delta : rank));
  }

 private:
  friend coalesced_group coalesced_threads();
  using LaneGroup::LaneGroup;
};

/// The lanes of the warp that have not ended: see __activemask(). In divergent code use a tile, or a mask.
inline coalesced_group coalesced_threads() {
  return coalesced_group(__activemask());
}

template <class Group>
void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups

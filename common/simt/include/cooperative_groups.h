// Stands in for CUDA's header of the same name: grids, thread blocks, tiles of a warp or of several, coalesced groups,
// partitions. Not there: clusters.
#pragma once

#include <type_traits>
#include <utility>

#include "common/simt/include/cooperative_groups/grid_group.h"
#include "common/simt/include/cooperative_groups/lane_group.h"
#include "common/simt/language/language.hpp"

namespace cooperative_groups {

/// What tiles larger than a warp work with on a GPU before sm_80. Here nobody uses it.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  unsigned char bytes[MaxBlockSize];
};

/// All threads of the block.
class thread_block {
 public:
  SIMT_INLINE static void sync() { __syncthreads(); }
  struct arrival_token {};
  static arrival_token barrier_arrive() { return {}; }
  SIMT_INLINE static void barrier_wait(arrival_token&&) { __syncthreads(); }

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
template <unsigned MaxBlockSize>
thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return {};
}

/// What tiles of up to 32 threads share whatever they are part of.
template <unsigned Size>
class WarpTile : public LaneGroup {
 public:
  static unsigned thread_rank() { return simt::lane_id() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }

  template <class T>
  SIMT_INLINE T shfl(T value, int rank) const {
    return simt::shuffle(mask_, value, rank, Size);
  }
  template <class T>
  SIMT_INLINE T shfl_up(T value, unsigned delta) const {
    return simt::shuffle_up(mask_, value, delta, Size);
  }
  template <class T>
  SIMT_INLINE T shfl_down(T value, unsigned delta) const {
    return simt::shuffle_down(mask_, value, delta, Size);
  }
  template <class T>
  SIMT_INLINE T shfl_xor(T value, unsigned lane_mask) const {
    return simt::shuffle_xor(mask_, value, static_cast<int>(lane_mask), Size);
  }

 protected:
  WarpTile() : LaneGroup((Size == 32 ? ~0u : (1u << Size % 32) - 1) << (simt::lane_id() & ~(Size - 1))) {}
};

/// Tiles of several warps. What CUDA does by way of block_tile_memory, the threads do by offers to one another.
template <unsigned Size>
class BlockTile {
 public:
  SIMT_INLINE static void sync() { simt::tile_barrier(Size); }
  static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }

  template <class T>
  SIMT_INLINE T shfl(T value, unsigned rank) const {
    T result = value;
    simt::tile_barrier(Size, &value);
    simt::fetch_offer(first() + rank % Size, &result, sizeof result);
    simt::tile_barrier(Size);
    return result;
  }
  SIMT_INLINE int any(int predicate) const {
    return of_all(predicate != 0, [](int a, int b) { return a | b; });
  }
  SIMT_INLINE int all(int predicate) const {
    return of_all(predicate != 0, [](int a, int b) { return a & b; });
  }
  /// The values of ranks begin to end - 1, combined in this order, end > begin.
  template <class T, class Op>
  SIMT_INLINE T of_ranks(T value, Op op, unsigned begin, unsigned end) const {
    T result = value;
    simt::tile_barrier(Size, &value);
    simt::fetch_offer(first() + begin, &result, sizeof result);
    for (unsigned rank = begin + 1; rank < end; ++rank) {
      T other = value;
      simt::fetch_offer(first() + rank, &other, sizeof other);
      result = op(result, other);
    }
    simt::tile_barrier(Size);
    return result;
  }
  template <class T, class Op>
  SIMT_INLINE T of_all(T value, Op op) const {
    return of_ranks(value, op, 0, Size);
  }

 private:
  static unsigned first() { return thread_block::thread_rank() / Size * Size; }
};

template <unsigned Size>
class Tile : public std::conditional_t<(Size <= 32), WarpTile<Size>, BlockTile<Size>> {
  static_assert(Size >= 1 && Size <= 1024 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, ... 1024 threads");

 public:
  /// The tile's place among the tiles that its parent splits into, and their number.
  unsigned meta_group_rank() const { return rank_; }
  unsigned meta_group_size() const { return count_; }

 protected:
  Tile(unsigned parent_rank, unsigned parent_size)
      : rank_(parent_rank / Size), count_((parent_size + Size - 1) / Size) {}

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

 private:
  friend thread_block_tile<1, void> this_thread();
  thread_block_tile() : Tile<Size>(0, Size) {}
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  if constexpr (!std::is_same_v<Parent, thread_block>) {
    static_assert(Size < Parent::size(), "a tile must be smaller than the one that it is part of");
  }
  return thread_block_tile<Size, Parent>(parent);
}

inline thread_block_tile<1, void> this_thread() {
  return {};
}

/// Some lanes of a warp.
class coalesced_group : public LaneGroup {
 public:
  /// The executor's.
  explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned count = 1)
      : LaneGroup(mask), rank_(rank), count_(count) {}

  unsigned thread_rank() const { return rank_of_caller(); }
  unsigned num_threads() const { return __popc(mask_); }
  unsigned size() const { return num_threads(); }
  unsigned meta_group_rank() const { return rank_; }
  unsigned meta_group_size() const { return count_; }

  template <class T>
  SIMT_INLINE T shfl(T value, unsigned rank) const {
    return simt::exchange(mask_, "coalesced_group::shfl", value, lane_of(rank));
  }
  template <class T>
  SIMT_INLINE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return simt::exchange(mask_, "coalesced_group::shfl_up", value, lane_of(rank >= delta ? rank - delta : rank));
  }
  template <class T>
  SIMT_INLINE T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return simt::exchange(mask_, "coalesced_group::shfl_down", value, lane_of(delta < size() ? rank + delta : rank));
  }

 private:
  unsigned rank_, count_;
};

/// The lanes of the warp that come here together: see __activemask().
SIMT_INLINE coalesced_group coalesced_threads() {
  return coalesced_group(__activemask());
}

/// Those of the group's lanes that have the same predicate.
template <class Group>
SIMT_INLINE coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned ayes = __ballot_sync(group.mask(), predicate);
  if (ayes == group.mask() || ayes == 0) return coalesced_group(group.mask());
  return coalesced_group(predicate ? ayes : group.mask() & ~ayes, predicate, 2);
}
/// Those of the group's lanes that have the same label.
template <class Group, class Label>
SIMT_INLINE coalesced_group labeled_partition(const Group& group, Label label) {
  if constexpr (std::is_same_v<Label, bool>) {
    return binary_partition(group, label);
  } else {
    unsigned mine = 0;
    if constexpr (std::is_pointer_v<Label>) {
      mine = __match_any_sync(group.mask(), reinterpret_cast<unsigned long long>(label));
    } else {
      mine = __match_any_sync(group.mask(), label);
    }
    const int leader = __ffs(static_cast<int>(mine)) - 1;
    const unsigned leaders = __ballot_sync(group.mask(), static_cast<unsigned>(leader) == simt::lane_id());
    return coalesced_group(mine, __popc(leaders & ((1u << leader) - 1)), __popc(leaders));
  }
}
/// The group's lanes, `size` at a time (a power of two), in order of rank.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned tile = parent.thread_rank() / size;
  unsigned mask = 0;
  for (unsigned rank = tile * size; rank < (tile + 1) * size && rank < parent.size(); ++rank)
    mask |= 1u << parent.lane_of(rank);
  return coalesced_group(mask, tile, (parent.size() + size - 1) / size);
}

/// Any group, whatever it is.
class thread_group {
 public:
  thread_group(const thread_block&) : kind_(Kind::block) {}
  thread_group(const grid_group&) : kind_(Kind::grid) {}
  thread_group(const coalesced_group& group) : kind_(Kind::lanes), mask_(group.mask()) {}
  template <unsigned Size, class Parent>
  thread_group(const thread_block_tile<Size, Parent>& tile) {
    if constexpr (Size <= 32) {
      kind_ = Kind::lanes;
      mask_ = tile.mask();
    } else {
      kind_ = Kind::tile;
      size_ = Size;
    }
  }

  SIMT_INLINE void sync() const {
    switch (kind_) {
      case Kind::block:
        __syncthreads();
        return;
      case Kind::grid:
        simt::grid_barrier();
        return;
      case Kind::lanes:
        __syncwarp(mask_);
        return;
      case Kind::tile:
        simt::tile_barrier(size_);
        return;
    }
  }
  unsigned long long size() const {
    return kind_ == Kind::block   ? thread_block::size()
           : kind_ == Kind::grid  ? grid_group::size()
           : kind_ == Kind::lanes ? static_cast<unsigned>(__popc(mask_))
                                  : size_;
  }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const {
    return kind_ == Kind::block   ? thread_block::thread_rank()
           : kind_ == Kind::grid  ? grid_group::thread_rank()
           : kind_ == Kind::lanes ? coalesced_group(mask_).thread_rank()
                                  : thread_block::thread_rank() % size_;
  }

 private:
  friend thread_group tiled_partition(const thread_group& parent, unsigned size);
  enum class Kind { block, grid, lanes, tile };
  Kind kind_ = Kind::block;
  unsigned mask_ = 0, size_ = 0;
};

/// Tiles of up to 32 threads, of a size that only the program knows: a power of two.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (parent.kind_ == thread_group::Kind::lanes) return tiled_partition(coalesced_group(parent.mask_), size);
  const unsigned first = simt::lane_id() / size * size;
  return coalesced_group((size == 32 ? ~0u : (1u << size % 32) - 1) << first);
}

template <class Group>
SIMT_INLINE void sync(const Group& group) {
  group.sync();
}
template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
  return group.num_threads();
}

/// One thread of the group calls f(arguments...); with `broadcast`, all get what it returns.
template <class Group, class F, class... Arguments>
SIMT_INLINE void invoke_one(const Group& group, F&& f, Arguments&&... arguments) {
  if (group.thread_rank() == 0) std::forward<F>(f)(std::forward<Arguments>(arguments)...);
}
template <class Group, class F, class... Arguments>
SIMT_INLINE auto invoke_one_broadcast(const Group& group, F&& f, Arguments&&... arguments) {
  decltype(f(arguments...)) result{};
  if (group.thread_rank() == 0) result = std::forward<F>(f)(std::forward<Arguments>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups

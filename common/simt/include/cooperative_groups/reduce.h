// Stands in for CUDA's header of the same name: reduce(group, value, operator) for tiles and coalesced groups.
#pragma once

#include "common/simt/include/cooperative_groups/operators.h"

namespace cooperative_groups {

/// All of the tile's values combined; every thread gets the result. Within a warp a butterfly: log2(Size) shuffles.
template <unsigned Size, class Parent, class T, class Op>
SIMT_INLINE T reduce(const thread_block_tile<Size, Parent>& tile, T value, Op op) {
  if constexpr (Size > 32) {
    return tile.of_all(value, op);
  } else {
    for (unsigned distance = Size / 2; distance > 0; distance /= 2) value = op(value, tile.shfl_xor(value, distance));
    return value;
  }
}
/// The same for any number of threads: each adds the value that lies `distance` ranks above, and rank 0 tells all.
template <class T, class Op>
SIMT_INLINE T reduce(const coalesced_group& group, T value, Op op) {
  const unsigned rank = group.thread_rank(), size = group.size();
  for (unsigned distance = 1; distance < size; distance *= 2) {
    const T other = group.shfl_down(value, distance);
    if (rank % (2 * distance) == 0 && rank + distance < size) value = op(value, other);
  }
  return group.shfl(value, 0);
}

}  // namespace cooperative_groups

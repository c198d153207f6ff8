// Stands in for CUDA's header of the same name: prefix sums, and the like with any operator, of a group's values.
#pragma once

#include "common/simt/include/cooperative_groups/operators.h"

namespace cooperative_groups {

/// The values of all threads up to the calling one, combined in order of rank.
template <class Group, class T, class Op>
SIMT_INLINE T inclusive_scan(const Group& group, T value, Op op) {
  const unsigned rank = group.thread_rank();
  if constexpr (requires { group.mask(); }) {
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
      const T before = group.shfl_up(value, distance);
      if (rank >= distance) value = op(before, value);
    }
    return value;
  } else {
    return group.of_ranks(value, op, 0, rank + 1);
  }
}
template <class Group, class T>
SIMT_INLINE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

/// Those before the calling thread; the first one gets T().
template <class Group, class T, class Op>
SIMT_INLINE T exclusive_scan(const Group& group, T value, Op op) {
  const unsigned rank = group.thread_rank();
  if constexpr (requires { group.mask(); }) {
    const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return rank == 0 ? T() : before;
  } else {
    const T before = group.of_ranks(value, op, 0, rank);
    return rank == 0 ? T() : before;
  }
}
template <class Group, class T>
SIMT_INLINE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups

// Stands in for CUDA's header of the same name: copies to shared memory that go on until wait(group).
#pragma once

#include "common/simt/include/cooperative_groups.h"
#include "common/simt/language/access.hpp"

namespace cooperative_groups {

/// The group's threads begin to copy `bytes` bytes: from global to shared memory, in pieces of 16, 8 or 4 bytes as the
/// addresses allow; the rest, and any other copy, at once.
template <class Group, class To, class From>
SIMT_INLINE void memcpy_async(const Group& group, To* to, const From* from, std::size_t bytes) {
  auto* const target = reinterpret_cast<char*>(to);
  const auto* const source = reinterpret_cast<const char*>(from);
  const std::size_t rank = group.thread_rank(), size = group.size();
  const std::size_t together = reinterpret_cast<std::size_t>(to) | reinterpret_cast<std::size_t>(from);
  const std::size_t piece = together % 16 == 0 ? 16 : together % 8 == 0 ? 8 : together % 4 == 0 ? 4 : 1;
  const bool later = piece > 1 && simt::is_shared(to) && simt::is_global(from);
  const std::size_t in_pieces = later ? bytes / piece * piece : 0;
  for (std::size_t at = rank * piece; at < in_pieces; at += size * piece) {
    simt::async_copy(target + at, source + at, piece, 0, simt::here());
  }
  for (std::size_t at = in_pieces + rank; at < bytes; at += size) target[at] = source[at];
  simt::async_commit();
}
/// As many elements as both sides have.
template <class Group, class T>
SIMT_INLINE void memcpy_async(const Group& group, T* to, std::size_t to_elements, const T* from,
                              std::size_t from_elements) {
  memcpy_async(group, to, from, (to_elements < from_elements ? to_elements : from_elements) * sizeof(T));
}

/// Until all of the group's copies have been made, but for those of the latest `Stages` calls.
template <unsigned Stages, class Group>
SIMT_INLINE void wait_prior(const Group& group) {
  simt::async_wait(Stages);
  group.sync();
}
template <class Group>
SIMT_INLINE void wait(const Group& group) {
  simt::async_wait_all();
  group.sync();
}

}  // namespace cooperative_groups

// The accesses that are in order without a closer look: the same as GlobalOrder::access(), for the most frequent cases.
#pragma once

#include "common/simt/observe/global_order.hpp"

namespace simt {

// Before a barrier, or the thread's own.
inline bool GlobalOrder::is_settled(const Writes& writes, const Lane& lane, const BlockStanding& block) {
  return writes.write_block == block.number &&
         (writes.written < block.epoch || (writes.writers == Who::one && writes.write_thread == lane.thread));
}
inline bool GlobalOrder::is_settled(const Reads& reads, const Lane& lane, const BlockStanding& block) {
  return reads.read_block == block.number && !reads.updated && !reads.stored &&
         (reads.read < block.epoch || (reads.readers == Who::one && reads.read_thread == lane.thread));
}

inline bool GlobalOrder::quick_read(std::size_t word, const Lane& lane, const BlockStanding& block, Site site) {
  std::uint8_t& state = states_[word];
  if ((state & GlobalMemory::all_written) != GlobalMemory::all_written) return false;
  Reads& reads = reads_[word];
  const std::uint8_t status = GlobalMemory::status_of(state);
  const auto with_status = [&](GlobalMemory::Status status) {
    return static_cast<std::uint8_t>((state & (GlobalMemory::all_written | GlobalMemory::by_kernel)) | status);
  };
  const auto is_first = [&] {
    reads = {.read_block = block.number, .read_thread = lane.thread & 1023, .read = lane.clock, .read_site = site};
  };
  switch (status) {
    case GlobalMemory::untouched:
      memory_.mark_touched(word);
      is_first();
      state = with_status(GlobalMemory::only_read);
      return true;
    case GlobalMemory::only_written:
      if (!is_settled(writes_[word], lane, block)) return false;
      is_first();
      state = with_status(GlobalMemory::tracked);
      return true;
    case GlobalMemory::tracked:
      if (reads.updated || reads.stored || reads.read_block != block.number ||
          !is_settled(writes_[word], lane, block)) {
        return false;
      }
      break;
    case GlobalMemory::only_read:
      if (reads.read_block == block.number) break;
      writes_[word] = {
          .write_block = block.number, .write_thread = lane.thread & 1023, .written = lane.clock, .write_site = site};
      state = with_status(GlobalMemory::shared);
      return true;
    case GlobalMemory::shared:
      return true;
    default:
      return false;
  }
  if (reads.read == lane.clock) {
    if (reads.read_thread != lane.thread && reads.readers != Who::several_warps) {
      reads.readers = reads.read_thread / warp_lanes == lane.warp ? Who::one_warp : Who::several_warps;
      reads.other_reader = lane.thread & 1023;
    }
    reads.read_volatile = 0;
    return true;
  }
  if (!is_settled(reads, lane, block)) return false;
  is_first();
  return true;
}

inline bool GlobalOrder::quick_write(std::size_t word, const Lane& lane, const BlockStanding& block, Site site) {
  std::uint8_t& state = states_[word];
  switch (GlobalMemory::status_of(state)) {
    case GlobalMemory::untouched:
      memory_.mark_touched(word);
      break;
    case GlobalMemory::only_written:
      if (!is_settled(writes_[word], lane, block)) return false;
      break;
    case GlobalMemory::only_read:
      if (!is_settled(reads_[word], lane, block)) return false;
      break;
    case GlobalMemory::tracked:
      if (!is_settled(writes_[word], lane, block) || !is_settled(reads_[word], lane, block)) return false;
      break;
    default:
      return false;
  }
  writes_[word] = {
      .write_block = block.number, .write_thread = lane.thread & 1023, .written = lane.clock, .write_site = site};
  state = GlobalMemory::only_written | GlobalMemory::all_written | GlobalMemory::by_kernel;
  return true;
}

inline bool GlobalOrder::quick_access(const Lane& lane, const BlockStanding& block, std::uintptr_t address,
                                      unsigned bytes, Use use, Site site) {
  if (bytes < 4) return false;
  const std::size_t first = word_of(address);
  const KeptLock::Use lock(lock_of(first));
  for (std::size_t word = first; word < first + bytes / 4; ++word) {
    if (!(use == Use::read ? quick_read(word, lane, block, site) : quick_write(word, lane, block, site))) return false;
  }
  return true;
}

template <unsigned bytes>
inline bool GlobalOrder::quick_words(const Lane& lane, const BlockStanding& block, std::uintptr_t address, Use use,
                                     Site site) {
  const std::size_t first = word_of(address);
  if (!lock_of(first).is_kept()) [[unlikely]]
    return false;
  for (std::size_t word = first; word < first + bytes / 4; ++word) {
    if (!(use == Use::read ? quick_read(word, lane, block, site) : quick_write(word, lane, block, site))) return false;
  }
  return true;
}

}  // namespace simt

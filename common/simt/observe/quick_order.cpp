// The accesses that are in order without a closer look: the same as GlobalOrder::access(), for the most frequent cases.
#include "common/simt/observe/global_order.hpp"

namespace simt {

using Memory = GlobalMemory;

namespace {

constexpr std::uint8_t with_status(std::uint8_t state, Memory::Status status) {
  return static_cast<std::uint8_t>((state & (Memory::all_written | Memory::by_kernel)) | status);
}

}  // namespace

// Before a barrier, or the thread's own.
bool GlobalOrder::is_settled(const Writes& writes, const Lane& lane, const BlockStanding& block) {
  return writes.write_block == block.number &&
         (writes.written < block.epoch || (writes.writers == Who::one && writes.write_thread == lane.thread));
}
bool GlobalOrder::is_settled(const Reads& reads, const Lane& lane, const BlockStanding& block) {
  return reads.read_block == block.number && !reads.updated && !reads.stored &&
         (reads.read < block.epoch || (reads.readers == Who::one && reads.read_thread == lane.thread));
}

bool GlobalOrder::quick_read(std::size_t word, const Lane& lane, const BlockStanding& block, Site site) {
  std::uint8_t& state = memory_.states()[word];
  if ((state & Memory::all_written) != Memory::all_written) return false;
  Reads& reads = reads_[word];
  const std::uint8_t status = Memory::status_of(state);
  const auto is_first = [&] {
    reads = {.read_block = block.number, .read_thread = lane.thread & 1023, .read = lane.clock, .read_site = site};
  };
  switch (status) {
    case Memory::untouched:
      memory_.mark_touched(word);
      is_first();
      state = with_status(state, Memory::only_read);
      return true;
    case Memory::only_written:
      if (!is_settled(writes_[word], lane, block)) return false;
      is_first();
      state = with_status(state, Memory::tracked);
      return true;
    case Memory::tracked:
      if (reads.updated || reads.stored || reads.read_block != block.number ||
          !is_settled(writes_[word], lane, block)) {
        return false;
      }
      break;
    case Memory::only_read:
      if (reads.read_block == block.number) break;
      writes_[word] = {
          .write_block = block.number, .write_thread = lane.thread & 1023, .written = lane.clock, .write_site = site};
      state = with_status(state, Memory::shared);
      return true;
    case Memory::shared:
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

bool GlobalOrder::quick_write(std::size_t word, const Lane& lane, const BlockStanding& block, Site site) {
  std::uint8_t& state = memory_.states()[word];
  switch (Memory::status_of(state)) {
    case Memory::untouched:
      memory_.mark_touched(word);
      break;
    case Memory::only_written:
      if (!is_settled(writes_[word], lane, block)) return false;
      break;
    case Memory::only_read:
      if (!is_settled(reads_[word], lane, block)) return false;
      break;
    case Memory::tracked:
      if (!is_settled(writes_[word], lane, block) || !is_settled(reads_[word], lane, block)) return false;
      break;
    default:
      return false;
  }
  writes_[word] = {
      .write_block = block.number, .write_thread = lane.thread & 1023, .written = lane.clock, .write_site = site};
  state = Memory::only_written | Memory::all_written | Memory::by_kernel;
  return true;
}

bool GlobalOrder::quick_access(const Lane& lane, const BlockStanding& block, std::uintptr_t address, unsigned bytes,
                               Use use, Site site) {
  if (bytes < 4) return false;
  const std::size_t first = memory_.word_of(address);
  const KeptLock::Use lock(lock_of(first));
  for (std::size_t word = first; word < first + bytes / 4; ++word) {
    if (!(use == Use::read ? quick_read(word, lane, block, site) : quick_write(word, lane, block, site))) return false;
  }
  return true;
}

}  // namespace simt

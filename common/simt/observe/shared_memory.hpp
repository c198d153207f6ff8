// The shared memory of the block that runs on the calling OS thread: where it lies, and who touched which word of it
// when. Races and reads of what nobody wrote show here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/observe/causality.hpp"
#include "common/simt/observe/findings.hpp"
#include "common/simt/observe/lane.hpp"
#include "common/simt/observe/use.hpp"

namespace simt {

/// Where a word of the calling thread's shared memory lies, in terms that hold for all threads, and that keep the bank.
std::uint64_t shared_place(std::uintptr_t address);
/// An array, or another variable, in shared memory.
struct SharedObject {
  std::string name;         ///< empty: dynamic shared memory
  std::uint64_t place = 0;  ///< of its first byte
  std::size_t bytes = 0;
};
/// Those of a kernel that is launched with so much dynamic shared memory, sorted by place.
std::vector<SharedObject> shared_objects(const void* kernel, std::size_t dynamic_bytes);

/// One of these for each OS thread that runs blocks: shared memory is thread-local.
class SharedMemory {
 public:
  SharedMemory();

  /// What the next blocks may use: the kernel's own variables, and so much of the dynamic array.
  void start_kernel(const void* kernel, std::size_t dynamic_bytes);
  std::size_t static_bytes() const { return static_bytes_; }

  /// Fills the kernel's shared memory with NaN, which is what reading unwritten words then gives. Accesses stamped
  /// before `now` count as another block's.
  void start_block(Stamp now);
  /// Where fences and atomics order what no barrier orders.
  void set_causality(Causality& causality, const BlockStanding& standing) {
    causality_ = &causality;
    standing_ = &standing;
  }
  /// All threads have passed a barrier: what was stamped before `now` is ordered before what follows.
  void start_epoch(Stamp now) { epoch_ = now; }

  /// What one block has there, for another one to have its own in between. Of the same kernel.
  class Kept;
  void save(Kept& kept) const;
  void restore(const Kept& kept);

  bool contains(std::uintptr_t address) const { return address - begin_ < bytes_; }
  std::uintptr_t begin() const { return begin_; }

  struct Conflict {
    DefectKind kind;
    unsigned thread = 0;  ///< the other party
    Site site = 0;
    bool other_wrote = false;
  };
  /// Notes an access within shared memory and tells what is wrong with it, if anything. `bytes` is 1, 2, 4, 8 or 16,
  /// the address a multiple of it.
  std::optional<Conflict> access(const Lane& lane, std::uintptr_t address, unsigned bytes, Use use, Site site);
  /// Notes a plain access if it is one of the many that can't be wrong: in order with what was before, because a barrier
  /// lies between or the thread itself made it. The rest is up to access().
  bool quick_read(const Lane& lane, std::uintptr_t address, unsigned bytes, Site site) {
    const auto is_quick = [&](Entry& entry, Sites& sites) { return quick_read(entry, sites, lane, site); };
    return for_each_entry(address - begin_, bytes, is_quick);
  }
  bool quick_write(const Lane& lane, std::uintptr_t address, unsigned bytes, Site site) {
    const auto is_quick = [&](Entry& entry, Sites& sites) { return quick_write(entry, sites, lane, site); };
    return for_each_entry(address - begin_, bytes, is_quick);
  }
  /// As access(write), but what it will write is not there yet (cp.async): only races count.
  std::optional<Conflict> announce_write(const Lane& lane, std::uintptr_t address, unsigned bytes, Site site);
  /// What was announced there comes now. Whether anybody may have read it before; and who it was.
  bool may_be_read_since_announced(std::uintptr_t address, std::size_t bytes) const {
    for (std::size_t word = (address - begin_) / 4, end = word + (bytes + 3) / 4; word < end; ++word) {
      if (words_[word].read > 0 || words_[word].flags & flag_split) return true;
    }
    return false;
  }
  std::optional<Conflict> read_since_announced(std::uintptr_t address, std::size_t bytes) const;

  struct Write {
    unsigned thread;
    Site site;
  };
  /// One that such a thread has made since the last barrier, if it is still the last one to its word.
  std::optional<Write> write_since_barrier(const std::function<bool(unsigned thread)>& is_meant) const;

  /// "byte 132 of tile (4096 bytes)". The place in the code tells what dynamic memory is called there; `verb` is what
  /// the kernel does to the word, for a launch that asks for no such memory.
  std::string describe(std::uintptr_t address, Site site, std::string_view verb) const;

 private:
  // Who read and who wrote a word last. Hot: looked at in every access.
  struct Entry {
    Stamp written = 0, read = 0;
    LaneMask read_lanes = 0;       // of the warp that read it
    std::uint16_t writer = 0;      // a thread; many_lanes | warp; or many_warps_write
    std::uint8_t reader_warp = 0;  // or many_warps
    std::uint8_t flags = 0;        // flag_stored: the plain write before atomic updates in a reader's place
  };
  // Looked at for reports only.
  struct Sites {
    Site written = 0, read = 0;
    std::uint16_t reader = 0;                    // the first one
    std::uint16_t writer = 0, other_writer = 0;  // the last one, and if several have updated it one more
  };
  static constexpr std::uint8_t flag_forbidden = 1, flag_split = 2, flag_atomic = 4, flag_stored = 8;
  static constexpr std::uint8_t many_warps = 255;
  static constexpr std::uint16_t many_lanes = 0x8000, many_warps_write = 0xffff;

  template <class Do>
  void for_each_own(Do act) const;    // act(address, bytes), for each variable that the kernel may use
  void mark_own(std::uint8_t flags);  // the words that the kernel may use, afresh

  bool is_settled(const Entry& entry, const Lane& lane) const {
    return entry.written < epoch_ || entry.writer == lane.thread;
  }
  // Whether `is_quick` says so of each: of words, or of the bytes of words that are split.
  template <class IsQuick>
  bool for_each_entry(std::size_t offset, unsigned bytes, IsQuick is_quick) {
    const auto are_quick = [&](std::size_t first, std::size_t end) {
      for (std::size_t at = first; at < end; ++at) {
        if (!is_quick(bytes_of_words_[at], byte_sites_[at])) return false;
      }
      return true;
    };
    if (bytes < 4) return words_[offset / 4].flags & flag_split && are_quick(offset, offset + bytes);
    for (std::size_t word = offset / 4, end = word + bytes / 4; word < end; ++word) {
      const bool split = words_[word].flags & flag_split;
      if (!(split ? are_quick(word * 4, word * 4 + 4) : is_quick(words_[word], word_sites_[word]))) return false;
    }
    return true;
  }
  bool quick_read(Entry& entry, Sites& sites, const Lane& lane, Site site) const {
    if (entry.flags & (flag_forbidden | flag_stored) || entry.written < block_ || !is_settled(entry, lane))
      return false;
    const LaneMask me = LaneMask{1} << lane.lane;
    if (entry.read < epoch_) {
      entry.read_lanes = me;
      entry.reader_warp = static_cast<std::uint8_t>(lane.warp);
      entry.read = lane.clock;
      sites.read = site;
      sites.reader = static_cast<std::uint16_t>(lane.thread);
    } else if (entry.reader_warp == lane.warp) {
      if (entry.read != lane.clock) return false;  // a __syncwarp() lies between
      entry.read_lanes |= me;
    } else {
      entry.reader_warp = many_warps;
    }
    return true;
  }
  bool quick_write(Entry& entry, Sites& sites, const Lane& lane, Site site) const {
    const LaneMask me = LaneMask{1} << lane.lane;
    if (entry.flags & (flag_forbidden | flag_stored) || !is_settled(entry, lane)) return false;
    if (entry.read >= epoch_ && (entry.reader_warp != lane.warp || entry.read_lanes != me)) return false;
    entry.writer = static_cast<std::uint16_t>(lane.thread);
    entry.read = 0;
    entry.written = lane.clock;
    entry.flags &= static_cast<std::uint8_t>(~flag_atomic);
    sites.written = site;
    sites.writer = static_cast<std::uint16_t>(lane.thread);
    return true;
  }
  bool ordered_by_fences(unsigned thread, Stamp stamp, const Lane& lane) const;
  bool write_is_ordered(const Entry& entry, const Sites& sites, const Lane& lane) const;
  static bool reads_are_ordered(const Entry& entry, const Lane& lane, unsigned& culprit);
  bool reads_are_ordered_by_fences(const Entry& entry, const Sites& sites, const Lane& lane) const;

  std::optional<Conflict> touch(Entry& entry, Sites& sites, const Lane& lane, Use use, Site site, bool announced);
  std::optional<Conflict> access_bytes(const Lane& lane, std::size_t offset, unsigned bytes, Use use, Site site,
                                       bool announced);
  std::optional<Conflict> visit(const Lane& lane, std::uintptr_t address, unsigned bytes, Use use, Site site,
                                bool announced);

  std::uintptr_t begin_ = 0;
  std::size_t bytes_ = 0;
  const void* kernel_ = nullptr;
  std::size_t dynamic_bytes_ = 0, static_bytes_ = 0;
  Stamp block_ = 0, epoch_ = 0;
  Causality* causality_ = nullptr;
  const BlockStanding* standing_ = nullptr;
  std::vector<Entry> words_;
  std::vector<Sites> word_sites_;
  // For words that are accessed in parts (halves, bytes), an entry per byte; allocated when first needed.
  std::vector<Entry> bytes_of_words_;
  std::vector<Sites> byte_sites_;
};

class SharedMemory::Kept {
  friend class SharedMemory;
  Stamp block = 0, epoch = 0;
  std::vector<std::byte> bytes;
  std::vector<Entry> words, bytes_of_words;
  std::vector<Sites> word_sites, byte_sites;
};

}  // namespace simt

// Accesses to global memory in the launch under way: who read and who wrote each word, and whether conflicting accesses
// are ordered. Within a block barriers order them, within a warp __syncwarp(), and any two threads fences on both sides
// of a word that the one changes and the other one reads (causality.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/simt/observe/causality.hpp"
#include "common/simt/observe/findings.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/kept_lock.hpp"
#include "common/simt/observe/lane.hpp"
#include "common/simt/observe/use.hpp"

namespace simt {

class GlobalOrder {
 public:
  /// Outlives all threads.
  GlobalOrder();

  void start_launch();
  /// All threads of the grid have come to a barrier of the grid: nobody needs to remember who accessed what before.
  void start_epoch();
  /// What turned out to be a race when all was done.
  std::vector<Causality::Suspended> finish_launch() { return causality_.finish_launch(); }
  Causality& causality() { return causality_; }

  struct Conflict {
    DefectKind kind;
    bool known = false;  ///< whether the other party is
    std::uint32_t block = 0;
    unsigned thread = 0;
    Site site = 0;
    bool other_wrote = false;
    Order order = Order::none;
    bool atomics_of_a_block = false;  ///< both are atomic, one of them within its block only
  };
  /// Notes an access within device memory, aligned to `bytes` (1, 2, 4, 8 or 16), and tells what is wrong with it.
  std::optional<Conflict> access(const Lane& lane, BlockStanding& block, std::uintptr_t address, unsigned bytes,
                                 Use use, Site site);

  /// The same if it is a plain access, as most are, that is in order without a closer look: else false, and nothing is noted
  /// that access() would not.
  bool quick_access(const Lane& lane, const BlockStanding& block, std::uintptr_t address, unsigned bytes, Use use,
                    Site site);

  /// The same of whole words; also false if another thread wants the lock.
  template <unsigned bytes>
  bool quick_words(const Lane& lane, const BlockStanding& block, std::uintptr_t address, Use use, Site site);

  /// After a read that is_quiet_read() has found to be one: whether such reads need no look at the words around any longer.
  void look_for_quiet(std::size_t word);
  /// Whether a read is one of the many that change nothing and can't be wrong. Without a lock, hence the rest is up to
  /// access().
  bool is_quiet_read(const BlockStanding& block, std::uintptr_t address, unsigned bytes) const {
    const std::size_t word = word_of(address);
    const std::uint8_t* const states = states_ + word;
    const auto is = [states](std::size_t i, GlobalMemory::Status status) {
      return (states[i] | GlobalMemory::by_kernel) == (status | GlobalMemory::all_written | GlobalMemory::by_kernel);
    };
    const auto quiet = [&is](std::size_t i) { return is(i, GlobalMemory::shared); };
    if (bytes == 4 && is(0, GlobalMemory::only_read)) {
      const Reads& r = reads_[word];
      return r.read_block == block.number && r.readers == Who::several_warps && r.read >= block.epoch;
    }
    switch (bytes) {
      case 16:
        return quiet(0) && quiet(1) && quiet(2) && quiet(3);
      case 8:
        return quiet(0) && quiet(1);
      default:
        return quiet(0);
    }
  }

 private:
  enum Who : std::uint32_t { one, one_warp, several_warps };  // a thread, several of a warp, several warps of a block
  // If nobody has read it since it was updated by atomics of several blocks, another one of these in a reader's place; or
  // the plain write before the updates, which the next one must come after as well.
  struct Reads {
    std::uint32_t read_block = 0;
    // And one more reader, so that there is another one to name when the first one writes.
    std::uint32_t read_thread : 10 = 0, other_reader : 10 = 0;
    std::uint32_t readers : 2 = 0;        // Who
    std::uint32_t read_volatile : 1 = 0;  // all on record
    std::uint32_t updated : 1 = 0;        // it is an atomic update, and no read
    std::uint32_t stored : 1 = 0;         // it is a plain write, and no read
    std::uint32_t unused : 7 = 0;         // so that a new one is stored without a look at the old one
    Stamp read = 0;
    Site read_site = 0;
  };
  struct Writes {
    std::uint32_t write_block = 0;
    // The last writer; if several have updated it atomically since the last barrier, one more.
    std::uint32_t write_thread : 10 = 0, other_writer : 10 = 0;
    std::uint32_t writers : 2 = 0;  // Who, of write_block
    std::uint32_t write_atomic : 1 = 0, write_volatile : 1 = 0, write_within_block : 1 = 0, spare : 7 = 0;
    Stamp written = 0;
    Site write_site = 0;
  };
  struct Record : Reads, Writes {};

  Record record_of(std::size_t word, std::uint8_t status) const;
  /// Answers the word's new status.
  std::uint8_t keep(std::size_t word, const Record& record);
  std::optional<Conflict> touch(Record& record, const Lane& lane, BlockStanding& block, Use use, Site site,
                                std::size_t word);
  std::optional<Conflict> access_split(std::size_t word, std::uint8_t status, unsigned first, unsigned bytes,
                                       const Lane& lane, BlockStanding& block, Use use, Site site);
  std::optional<Conflict> access_word(std::size_t word, unsigned first, unsigned bytes, const Lane& lane,
                                      BlockStanding& block, Use use, Site site);
  bool quick_read(std::size_t word, const Lane& lane, const BlockStanding& block, Site site);
  bool quick_write(std::size_t word, const Lane& lane, const BlockStanding& block, Site site);
  static bool is_settled(const Writes& writes, const Lane& lane, const BlockStanding& block);
  static bool is_settled(const Reads& reads, const Lane& lane, const BlockStanding& block);
  Order order_of_write(const Record& record, const Lane& lane, const BlockStanding& block, std::size_t word,
                       bool thorough);
  Order order_of_reads(const Record& record, const Lane& lane, const BlockStanding& block, bool thorough);
  std::optional<Conflict> with_write(const Record& record, const Lane& lane, const BlockStanding& block, Use use,
                                     Site site, std::size_t word);
  std::optional<Conflict> with_reads(const Record& record, const Lane& lane, const BlockStanding& block, Use use,
                                     Site site, std::size_t word);

  GlobalMemory& memory_ = GlobalMemory::instance();
  const std::uintptr_t begin_ = memory_.begin();
  std::uint8_t* const states_ = memory_.states();
  std::size_t word_of(std::uintptr_t address) const { return (address - begin_) / 4; }
  // Of each word, if its status says so, in two places: most words are only read or only written in a launch.
  Reads* const reads_;
  Writes* const writes_;
  Record* const parts_;  // of the bytes of words that are split
  // Neighbours share a lock.
  static constexpr std::size_t locks = 4096, words_of_a_lock = 256;
  static_assert(words_of_a_lock % GlobalMemory::words_of_quiet_byte == 0, "one lock for all bits of a byte");
  const std::unique_ptr<KeptLock[]> locks_ = std::make_unique<KeptLock[]>(locks);
  KeptLock& lock_of(std::size_t word) { return locks_[word / words_of_a_lock % locks]; }
  Causality causality_;
};

}  // namespace simt

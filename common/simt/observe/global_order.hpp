// Accesses to global memory in the launch under way: who read and who wrote each word, and whether conflicting accesses
// are ordered. Within a block barriers order them, within a warp __syncwarp(), and any two threads fences on both sides
// of a word that the one changes and the other one reads (causality.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/simt/observe/causality.hpp"
#include "common/simt/observe/findings.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/lane.hpp"
#include "common/simt/observe/use.hpp"

namespace simt {

class GlobalOrder {
 public:
  GlobalOrder();
  ~GlobalOrder();

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

  /// Whether a read is one of the many that change nothing and can't be wrong. Without a lock, hence the rest is up to
  /// access().
  bool is_quiet_read(const BlockStanding& block, std::uintptr_t address, unsigned bytes) const {
    const std::size_t word = memory_.word_of(address);
    const std::uint8_t* const states = memory_.states() + word;
    const auto is = [states](std::size_t i, GlobalMemory::Status status) {
      return (states[i] | GlobalMemory::by_kernel) == (status | GlobalMemory::all_written | GlobalMemory::by_kernel);
    };
    const auto quiet = [&is](std::size_t i) { return is(i, GlobalMemory::shared); };
    if (bytes == 4 && is(0, GlobalMemory::tracked)) {
      const Record& r = records_[word];
      return r.read_block == block.number && r.readers == Record::several_warps && r.read >= block.epoch &&
             !r.write_block;
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
  struct Record {
    // The reader: a thread, several threads of a warp, or several warps of a block. If nobody has read it since it was
    // updated by atomics of several blocks, another one of these in its place.
    std::uint32_t read_block;
    // And one more reader, so that there is another one to name when the first one writes.
    std::uint32_t read_thread : 10, other_reader : 10;
    enum Readers : std::uint32_t { one, one_warp, several_warps };
    std::uint32_t readers : 2;
    std::uint32_t read_volatile : 1;  // all on record
    std::uint32_t updated : 1;        // it is an atomic update, and no read
    Stamp read;
    Site read_site;
    std::uint32_t write_block;
    // The last writer; if several have updated it atomically since the last barrier, one more.
    std::uint32_t write_thread : 10, other_writer : 10;
    std::uint32_t writers : 2;  // Readers, of threads of write_block
    std::uint32_t write_atomic : 1, write_volatile : 1, write_within_block : 1;
    Stamp written;
    Site write_site;
  };
  struct Stripe {
    std::atomic_flag locked;
    std::unordered_map<std::size_t, std::array<Record, 4>> split;
  };

  std::optional<Conflict> touch(Record& record, bool fresh, const Lane& lane, BlockStanding& block, Use use, Site site,
                                std::size_t word);
  std::optional<Conflict> access_split(Stripe& stripe, std::size_t word, unsigned first, unsigned bytes, bool fresh,
                                       const Lane& lane, BlockStanding& block, Use use, Site site);
  std::optional<Conflict> access_word(std::size_t word, unsigned first, unsigned bytes, const Lane& lane,
                                      BlockStanding& block, Use use, Site site);
  Order order_of_write(const Record& record, const Lane& lane, const BlockStanding& block, std::size_t word,
                       bool thorough);
  Order order_of_reads(const Record& record, const Lane& lane, const BlockStanding& block, bool thorough);
  std::optional<Conflict> with_write(const Record& record, const Lane& lane, const BlockStanding& block, Use use,
                                     Site site, std::size_t word);
  std::optional<Conflict> with_reads(const Record& record, const Lane& lane, const BlockStanding& block, Use use,
                                     Site site, std::size_t word);

  GlobalMemory& memory_ = GlobalMemory::instance();
  Record* records_ = nullptr;
  std::size_t reserved_ = 0;
  // Neighbours share a lock, so that blocks in different places don't take the same locks, and so cache lines, in turns.
  static constexpr std::size_t stripes = 1024, words_of_a_stripe = 256;
  std::unique_ptr<Stripe[]> stripe_;
  Causality causality_;
};

}  // namespace simt

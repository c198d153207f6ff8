// Accesses to global memory in the launch under way: who read and who wrote each word, and whether conflicting accesses
// are ordered. Within a block barriers order them, within a warp __syncwarp(), between blocks only a __threadfence()
// and an atomic on the one side and an atomic on the same word on the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/simt/observe/findings.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/lane.hpp"

namespace simt {

/// What one block has learnt from others by atomics. Lives as long as the block.
struct Acquired {
  struct Item {
    const void* place;
    std::size_t length;
  };
  std::vector<Item> items;
};

/// A block's standing: what an access needs to know of it.
struct BlockStanding {
  std::uint32_t number = 0;  ///< 1 + its linear index in the grid
  Stamp epoch = 0;           ///< stamps before it are ordered before now
  Stamp fence = 0;           ///< the latest fence of any of its threads
  Acquired acquired;
};

class GlobalOrder {
 public:
  GlobalOrder();
  ~GlobalOrder();

  void start_launch();

  enum class Use { read, write, atomic };
  struct Conflict {
    DefectKind kind;
    bool known = false;  ///< whether the other party is
    std::uint32_t block = 0;
    unsigned thread = 0;
    Site site = 0;
    bool other_wrote = false;
  };
  /// Notes an access within device memory, aligned to `bytes` (1, 2, 4, 8 or 16), and tells what is wrong with it.
  std::optional<Conflict> access(const Lane& lane, BlockStanding& block, std::uintptr_t address, unsigned bytes,
                                 Use use, Site site);

  /// After an atomic operation: what others have given away by then with one on the same word. The operation itself
  /// comes after access(), so another block's may come between.
  void acquire(BlockStanding& block, std::uintptr_t address);

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
    // The reader: a thread, several threads of a warp, or several warps of a block.
    std::uint32_t read_block;
    // And one more reader, so that there is another one to name when the first one writes.
    std::uint32_t read_thread : 10, other_reader : 10;
    enum Readers : std::uint32_t { one, one_warp, several_warps };
    std::uint32_t readers : 2;
    Stamp read;
    Site read_site;
    std::uint32_t write_block;
    // The last writer; if several have updated it atomically since the last barrier, one more.
    std::uint32_t write_thread : 10, other_writer : 10;
    std::uint32_t writers : 2;  // Readers, of threads of write_block
    std::uint32_t write_atomic : 1;
    Stamp written;
    Site write_site;
  };
  // What is given away with an atomic on some word, by a thread after its own fence and by a block after a barrier:
  // what was done up to `limit`. `position` orders them by who came first.
  struct Release {
    std::size_t position;
    Stamp limit;
  };
  struct Place {
    std::unordered_map<std::uint32_t, Release> by_block;
    std::unordered_map<std::uint64_t, Release> by_thread;
    std::size_t releases() const { return by_block.size() + by_thread.size(); }
  };
  static std::uint64_t key(std::uint32_t block, unsigned thread) { return std::uint64_t{block} << 10 | thread; }
  struct Stripe {
    std::atomic_flag locked;
    std::unordered_map<std::size_t, std::array<Record, 4>> split;
  };

  std::optional<Conflict> touch(Record& record, bool fresh, const Lane& lane, BlockStanding& block, Use use, Site site);
  std::optional<Conflict> access_split(Stripe& stripe, std::size_t word, unsigned first, unsigned bytes, bool fresh,
                                       const Lane& lane, BlockStanding& block, Use use, Site site);
  std::optional<Conflict> access_word(std::size_t word, unsigned first, unsigned bytes, const Lane& lane,
                                      BlockStanding& block, Use use, Site site);
  bool write_is_ordered(const Record& record, const Lane& lane, const BlockStanding& block);
  bool reads_are_ordered(const Record& record, const Lane& lane, const BlockStanding& block);
  bool ordered(std::uint32_t other_block, unsigned other_thread, Stamp stamp, const Lane& lane,
               const BlockStanding& block);
  void release(const Lane& lane, const BlockStanding& block, std::uintptr_t address);

  GlobalMemory& memory_ = GlobalMemory::instance();
  Record* records_ = nullptr;
  std::size_t reserved_ = 0;
  static constexpr std::size_t stripes = 1024;
  std::unique_ptr<Stripe[]> stripe_;
  std::mutex places_mutex_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Place>> places_;
};

}  // namespace simt

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

#include "common/simt/global_memory.hpp"
#include "common/simt/inspection.hpp"
#include "common/simt/lane.hpp"

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
  std::optional<Conflict> access(const Lane& lane, BlockStanding& block, std::uintptr_t address, unsigned bytes, Use use,
                                 Site site);

  /// Whether a read is one of the many that change nothing and can't be wrong. Without a lock, hence the rest is up to
  /// access().
  bool is_quiet_read(const BlockStanding& block, std::uintptr_t address, unsigned bytes) const {
    const std::size_t word = memory_.word_of(address);
    constexpr std::uint8_t quiet = GlobalMemory::shared | GlobalMemory::all_written;
    const std::uint8_t* state = memory_.states() + word;
    if (*state == (GlobalMemory::tracked | GlobalMemory::all_written) && bytes == 4) {
      const Record& r = records_[word];
      return r.read_block == block.number && r.readers == Record::several_warps && r.read >= block.epoch && !r.write_block;
    }
    switch (bytes) {
      case 16:
        return state[0] == quiet && state[1] == quiet && state[2] == quiet && state[3] == quiet;
      case 8:
        return state[0] == quiet && state[1] == quiet;
      default:
        return state[0] == quiet;
    }
  }

 private:
  struct Record {
    // The reader: a thread, several threads of a warp, or several warps of a block.
    std::uint32_t read_block;
    std::uint16_t read_thread;
    enum Readers : std::uint16_t { one, one_warp, several_warps } readers;
    Stamp read;
    Site read_site;
    std::uint32_t write_block;
    std::uint16_t write_thread;
    std::uint16_t write_atomic;
    Stamp written;
    Site write_site;
  };
  // What a block that has fenced gives away with an atomic on some word.
  struct Release {
    std::size_t position;
    unsigned thread;
    Stamp own_limit, block_limit;
  };
  struct Place {
    std::unordered_map<std::uint32_t, Release> by_block;
  };
  struct Stripe {
    std::atomic_flag locked;
    std::unordered_map<std::size_t, std::array<Record, 4>> split;
  };

  std::optional<Conflict> touch(Record& record, bool fresh, const Lane& lane, BlockStanding& block, Use use, Site site);
  std::optional<Conflict> access_split(Stripe& stripe, std::size_t word, unsigned first, unsigned bytes, bool fresh,
                                       const Lane& lane, BlockStanding& block, Use use, Site site);
  std::optional<Conflict> access_word(std::size_t word, unsigned first, unsigned bytes, const Lane& lane,
                                      BlockStanding& block, Use use, Site site);
  bool ordered(std::uint32_t other_block, unsigned other_thread, Stamp stamp, const Lane& lane, const BlockStanding& block);
  void synchronise(const Lane& lane, BlockStanding& block, std::uintptr_t address);

  GlobalMemory& memory_ = GlobalMemory::instance();
  Record* records_ = nullptr;
  std::size_t reserved_ = 0;
  static constexpr std::size_t stripes = 1024;
  std::unique_ptr<Stripe[]> stripe_;
  std::mutex places_mutex_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Place>> places_;
};

}  // namespace simt

// The order that fences make between threads which no barrier orders: a thread writes, fences and then changes a word
// (it releases); another one reads that word and fences (it acquires), and what the first one knew comes before what
// the second one does now. Everything is per thread; barriers and __syncwarp() hand it on. Internal to common/simt/.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/simt/language/access.hpp"
#include "common/simt/language/collective.hpp"

namespace simt {

/// A moment of a block's life, for ordering accesses to memory: barriers, __syncwarp() and fences advance it. 0: never.
using Stamp = std::uint32_t;
inline constexpr unsigned lanes_of_a_warp = 32;

struct ReleaseLog;

/// What a thread has learnt by one word: the first `length` releases there.
struct Acquired {
  const ReleaseLog* log;
  std::size_t length;
  bool device;  ///< by an atomic and a fence of device scope; else only from threads of its own block
};
using View = std::vector<Acquired>;

/// What a thread's fence covers: of its own block, by stamps; of others, by what it had acquired.
struct Fenced {
  Stamp own = 0;                              ///< its own accesses up to here; 0: it has not fenced
  Stamp epoch = 0;                            ///< all accesses of its block before
  std::array<Stamp, lanes_of_a_warp> warp{};  ///< those of its warp's lanes up to here
  std::shared_ptr<const View> view = nullptr;
};

/// What any thread of a block may release, because others have fenced before the last barrier.
struct Published {
  std::vector<Stamp> limits;  ///< of each thread of the block: its accesses up to here
  View view;
};

/// What a thread has given away by a word.
struct Release {
  std::uint32_t block;
  unsigned thread;
  bool device;
  Stamp at;  ///< when; the word itself was changed then
  Fenced fenced;
  std::shared_ptr<const Published> published;
};

/// All releases by one word, in the order in which they came.
struct ReleaseLog {
  std::uintptr_t word;
  std::deque<Release> releases;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> of_block;  ///< their places
};

/// A word that a thread has read, and that it acquires when it fences (or at a barrier, if it was read atomically).
struct Pending {
  std::uintptr_t address;
  std::uint32_t key_block;  ///< for shared memory, whose addresses serve one block after another; else 0
  bool device;
  bool is_volatile;
  bool acquires;  ///< by an atomic other than a compare-and-swap: CUDA's examples then do without a fence
  bool seen;      ///< its result is used: an atomic whose result nobody looks at has learnt nothing
  bool fenced_block = false, fenced_device = false;
};

/// What ordering by fences needs to know of one thread.
struct LaneOrder {
  bool used = false;
  bool polls = false;                              ///< has read a volatile word
  Fenced device, any;                              ///< the latest fences
  std::array<Stamp, lanes_of_a_warp> published{};  ///< fences of the warp's lanes that a __syncwarp() puts before now
  View view;
  std::vector<Pending> pending;
};

/// A block's standing: what an access needs to know of it.
struct BlockStanding {
  std::uint32_t number = 0;  ///< 1 + its linear index in the grid
  Stamp epoch = 0;           ///< stamps before it are ordered before now
  bool ordering = false;     ///< some thread of it has a LaneOrder in use
  bool fences = false, fenced_since_barrier = false;
  View view;  ///< what its threads had acquired before the last barrier
  std::vector<Pending> pending;
  std::shared_ptr<const Published> published = nullptr;
  // Words whose atomic updates' results its threads have used, the latest ones: who sees the sum knows who has added.
  std::array<std::uintptr_t, 8> seen{};
  std::size_t next_seen = 0;

  bool has_seen(std::uintptr_t word) const { return std::find(seen.begin(), seen.end(), word) != seen.end(); }
};

struct Lane;

enum class Order : std::uint8_t {
  none,
  no_reader_fence,  ///< none, because the reader has not fenced since it read the flag
  narrow,           ///< none, because a fence or an atomic is of block scope
  before
};

class Causality {
 public:
  void start_launch();

  // What threads do:

  void fence(Lane& lane, BlockStanding& block, Scope scope);
  /// Before an atomic operation or a volatile write.
  void release(const Lane& lane, const BlockStanding& block, std::uintptr_t address, bool shared, Scope scope);
  /// After an atomic operation: what has been released by then may be acquired.
  void performed(Lane& lane, BlockStanding& block, std::uintptr_t address, bool shared, Scope scope, bool acquires);
  /// The kernel uses the operation's result.
  void seen(Lane& lane, BlockStanding& block, std::uintptr_t address);
  void volatile_read(Lane& lane, BlockStanding& block, std::uintptr_t address);
  /// All threads of the block have come to a barrier.
  void barrier(const std::vector<Lane>& lanes, unsigned count, BlockStanding& block);
  /// These lanes of a warp have come to a __syncwarp().
  void sync_warp(Lane* lanes, LaneMask mask, BlockStanding& block);

  /// Whether what another thread did at `stamp` comes before now. `thorough`: also by way of third threads; what a
  /// report rests on. `word`: the word concerned, if what was done there was atomic or volatile, else 0.
  Order order(std::uint32_t other_block, unsigned other_thread, Stamp stamp, const Lane& lane,
              const BlockStanding& block, bool thorough, std::uintptr_t word = 0);

  /// A volatile read is a look at a flag if the reader fences after it; judged when the launch ends. Of two threads on
  /// one word, where one reads it, volatile, and the other changes it, volatile or by an atomic.
  struct Suspended {
    std::uint32_t read_block, write_block;
    unsigned read_thread, write_thread;
    std::uint32_t read_site, write_site;
    std::uintptr_t address;
    bool is_volatile = true;
  };
  void suspend(const Suspended& what, Stamp read);
  /// The same for a plain read of what others update atomically: a first guess, if an atomic operation of the reader on the
  /// same word follows (as in loops around atomicCAS).
  void suspend_guess(const Suspended& what);
  void confirm_guess(std::uint32_t block, unsigned thread, std::uintptr_t word);
  /// Those that were neither.
  std::vector<Suspended> finish_launch();

 private:
  using Key = std::pair<std::uintptr_t, std::uint32_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.first * 0x9e3779b97f4a7c15u ^ key.second; }
  };
  struct Target;
  class Search;

  const ReleaseLog* log_at(const Pending& pending);
  void acquire(View& view, const Pending& pending, bool device);
  void settle(LaneOrder& order, View& view);

  std::mutex mutex_;
  std::atomic<bool> any_release_{false};
  std::unordered_map<Key, ReleaseLog*, Hash> log_of_;
  std::deque<ReleaseLog> logs_;
  std::size_t vain_searches_ = 0;
  using Known = std::tuple<std::uint32_t, unsigned, std::uint32_t, std::uint32_t>;  // the reader, and the sites
  struct Doubt {
    Suspended what;
    Stamp read;
  };
  std::map<Known, Doubt> suspended_;
  std::map<std::tuple<std::uint32_t, unsigned, std::uintptr_t>, Suspended> guesses_;  // by reader and word
  std::atomic<bool> any_guess_{false};
  struct Fences {
    Stamp any, device;
  };
  std::map<std::pair<std::uint32_t, unsigned>, Fences> fences_of_pollers_;
};

}  // namespace simt

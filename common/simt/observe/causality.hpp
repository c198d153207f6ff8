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
#include <unordered_set>
#include <vector>

#include "common/simt/language/access.hpp"
#include "common/simt/language/collective.hpp"
#include "common/simt/observe/thread_order.hpp"

namespace simt {

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
  /// Whether a compare-and-swap has been made there: a volatile write may then open the lock.
  bool is_lock(std::uintptr_t address);
  /// Whether any launch of this process has ordered threads by fences and flags: what its threads find depends on who is first.
  bool orders_by_flags() const { return orders_by_flags_; }
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
  /// Whether a guess of this thread's is not confirmed yet.
  bool has_guessed(std::uint32_t block, unsigned thread);
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
  std::atomic<bool> orders_by_flags_{false};  // in any launch
  std::unordered_set<std::uintptr_t> locks_;  // words of compare-and-swaps
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

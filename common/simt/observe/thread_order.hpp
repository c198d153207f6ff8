// What is known of the order of threads: plain structures, of a thread, of a block, of what they tell others (causality.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

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

}  // namespace simt

#include "common/simt/observe/global_order.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace simt {
namespace {

using Memory = GlobalMemory;

class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace

GlobalOrder::GlobalOrder() : stripe_(std::make_unique<Stripe[]>(stripes)) {
  // Zero-filled when first touched, so that only words that are tracked cost memory.
  reserved_ = memory_.words() * sizeof(Record);
  void* memory = mmap(nullptr, reserved_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  records_ = static_cast<Record*>(memory);
}

GlobalOrder::~GlobalOrder() {
  munmap(records_, reserved_);
}

void GlobalOrder::start_launch() {
  memory_.start_launch();
  for (std::size_t i = 0; i < stripes; ++i) {
    if (!stripe_[i].split.empty()) stripe_[i].split.clear();
  }
  places_.clear();
}

bool GlobalOrder::ordered(std::uint32_t other_block, unsigned other_thread, Stamp stamp, const Lane& lane,
                          const BlockStanding& block) {
  if (other_block == block.number) {
    if (other_thread == lane.thread || stamp < block.epoch) return true;
    if (other_thread / warp_lanes == lane.warp && lane.seen[other_thread % warp_lanes] >= stamp) return true;
  }
  if (block.acquired.items.empty()) return false;
  const std::lock_guard lock(places_mutex_);
  for (const auto& [where, length] : block.acquired.items) {
    const Place& place = *static_cast<const Place*>(where);
    const auto covers = [&, length = length](const auto& releases, auto key) {
      const auto at = releases.find(key);
      return at != releases.end() && at->second.position < length && stamp <= at->second.limit;
    };
    if (covers(place.by_thread, key(other_block, other_thread))) return true;
    if (other_block != block.number && covers(place.by_block, other_block)) return true;
  }
  return false;
}

void GlobalOrder::acquire(BlockStanding& block, std::uintptr_t address) {
  const std::lock_guard lock(places_mutex_);
  const auto at = places_.find(address);
  if (at == places_.end()) return;
  // Takes what others have given, whether or not a fence follows: a kernel without it would be wrong on paper only.
  const Place& place = *at->second;
  const auto known = std::ranges::find(block.acquired.items, &place, &Acquired::Item::place);
  if (known == block.acquired.items.end()) {
    block.acquired.items.push_back({&place, place.releases()});
  } else {
    known->length = place.releases();
  }
}

void GlobalOrder::release(const Lane& lane, const BlockStanding& block, std::uintptr_t address) {
  if (block.fence == 0) return;
  const std::lock_guard lock(places_mutex_);
  std::unique_ptr<Place>& at = places_[address];
  if (!at) at = std::make_unique<Place>();
  Place& place = *at;
  // Gives what this thread did before its fence, and what the block did before its last barrier if a thread of it has
  // fenced since then or right before.
  const auto give = [&](auto& releases, auto key, Stamp limit) {
    releases.try_emplace(key, Release{place.releases(), 0}).first->second.limit = limit;
  };
  give(place.by_thread, key(block.number, lane.thread), lane.fence);
  give(place.by_block, block.number, std::min(block.fence, block.epoch - 1));
}

bool GlobalOrder::write_is_ordered(const Record& r, const Lane& lane, const BlockStanding& block) {
  if (r.write_block != block.number || r.writers == Record::one) {
    return ordered(r.write_block, r.write_thread, r.written, lane, block);
  }
  // Which lanes of the warp have updated it is not known: any __syncwarp() since then will do.
  return r.written < block.epoch ||
         (r.writers == Record::one_warp && r.write_thread / warp_lanes == lane.warp && lane.last_sync >= r.written);
}

bool GlobalOrder::reads_are_ordered(const Record& r, const Lane& lane, const BlockStanding& block) {
  if (r.read_block != block.number || r.readers == Record::one) {
    return ordered(r.read_block, r.read_thread, r.read, lane, block);
  }
  return r.read < block.epoch ||
         (r.readers == Record::one_warp && r.read_thread / warp_lanes == lane.warp && lane.last_sync >= r.read);
}

std::optional<GlobalOrder::Conflict> GlobalOrder::touch(Record& r, bool fresh, const Lane& lane, BlockStanding& block,
                                                        Use use, Site site) {
  if (fresh) r = {};
  std::optional<Conflict> conflict;
  if (r.write_block && !(use == Use::atomic && r.write_atomic) && !write_is_ordered(r, lane, block)) {
    const bool myself = r.write_block == block.number && r.write_thread == lane.thread;
    conflict = Conflict{
        DefectKind::global_race, true, r.write_block, myself ? r.other_writer : r.write_thread, r.write_site, true};
  }
  if (use == Use::read) {
    // Earlier reads that come before this one need not be kept: what comes after this one comes after them.
    const bool first = r.read_block != block.number || (r.read != lane.clock && reads_are_ordered(r, lane, block));
    if (first) {
      r.read_block = block.number;
      r.read_thread = lane.thread & 1023;
      r.readers = Record::one;
      r.read_site = site;
    } else if (r.read_thread != lane.thread && r.readers != Record::several_warps) {
      r.readers = r.read_thread / warp_lanes == lane.warp ? Record::one_warp : Record::several_warps;
      r.other_reader = lane.thread & 1023;
    }
    r.read = first ? lane.clock : std::max(r.read, lane.clock);
    return conflict;
  }
  if (r.read_block && !conflict && !reads_are_ordered(r, lane, block)) {
    const bool myself = r.read_block == block.number && r.read_thread == lane.thread;
    conflict = Conflict{
        DefectKind::global_race, true, r.read_block, myself ? r.other_reader : r.read_thread, r.read_site, false};
  }
  const bool joins_atomics = use == Use::atomic && r.write_atomic && r.write_block == block.number &&
                             r.written >= block.epoch && (r.write_thread != lane.thread || r.writers != Record::one);
  if (!joins_atomics) {
    r.writers = Record::one;
  } else if (r.write_thread != lane.thread) {
    r.writers = r.writers != Record::several_warps && r.write_thread / warp_lanes == lane.warp ? Record::one_warp
                                                                                               : Record::several_warps;
    r.other_writer = r.write_thread;
  }
  r.read_block = 0;
  r.write_block = block.number;
  r.write_thread = lane.thread & 1023;
  r.write_atomic = use == Use::atomic;
  r.written = lane.clock;
  r.write_site = site;
  return conflict;
}

std::optional<GlobalOrder::Conflict> GlobalOrder::access_split(Stripe& stripe, std::size_t word, unsigned first,
                                                               unsigned bytes, bool fresh, const Lane& lane,
                                                               BlockStanding& block, Use use, Site site) {
  const auto [at, is_new] = stripe.split.try_emplace(word);
  // Until now one record stood for all four bytes.
  if (is_new) at->second.fill(fresh ? Record{} : records_[word]);
  std::optional<Conflict> conflict;
  for (unsigned byte = first; byte < first + bytes; ++byte) {
    const auto found = touch(at->second[byte], false, lane, block, use, site);
    if (found && !conflict) conflict = found;
  }
  return conflict;
}

std::optional<GlobalOrder::Conflict> GlobalOrder::access_word(std::size_t word, unsigned first, unsigned bytes,
                                                              const Lane& lane, BlockStanding& block, Use use,
                                                              Site site) {
  std::uint8_t& state = memory_.states()[word];
  Record& record = records_[word];
  Stripe& stripe = stripe_[word % stripes];
  const SpinLock lock(stripe.locked);
  const std::uint8_t status = Memory::status_of(state);
  if (status == Memory::unallocated) return Conflict{DefectKind::out_of_bounds};

  std::optional<Conflict> conflict;
  const auto touched = static_cast<std::uint8_t>((0xfu >> (4 - bytes)) << first);
  std::uint8_t written = state & Memory::all_written;
  if (use != Use::write && (written & touched) != touched) conflict = Conflict{DefectKind::uninitialised_global};
  written |= touched;

  std::uint8_t next = status;
  if (status == Memory::untouched) memory_.mark_touched(word);
  if (status == Memory::shared) {
    if (use != Use::read) {
      // One of its readers is on record still; if that is this block, the other one is not. What an atomic has ordered
      // after the one on record is taken to come after the others, too.
      const bool other = record.read_block != block.number;
      if (!other || !reads_are_ordered(record, lane, block)) {
        conflict =
            Conflict{DefectKind::global_race, other, record.read_block, record.read_thread, record.read_site, false};
      }
      touch(record, true, lane, block, use, site);
      next = Memory::tracked;
    }
  } else if (bytes < 4 || status == Memory::split) {
    const auto found = access_split(stripe, word, first, bytes, status == Memory::untouched, lane, block, use, site);
    if (found && !conflict) conflict = found;
    next = Memory::split;
  } else {
    const bool fresh = status == Memory::untouched;
    const bool only_read = !fresh && record.write_block == 0;
    if (only_read && use == Use::read && record.read_block != block.number) {
      next = Memory::shared;
    } else {
      const auto found = touch(record, fresh, lane, block, use, site);
      if (found && !conflict) conflict = found;
      next = Memory::tracked;
    }
  }
  const std::uint8_t by_kernel = use == Use::read ? state & Memory::by_kernel : Memory::by_kernel;
  state = static_cast<std::uint8_t>(next | written | by_kernel);
  return conflict;
}

std::optional<GlobalOrder::Conflict> GlobalOrder::access(const Lane& lane, BlockStanding& block, std::uintptr_t address,
                                                         unsigned bytes, Use use, Site site) {
  if (use == Use::atomic) release(lane, block, address);
  const std::size_t word = memory_.word_of(address);
  if (bytes < 4) return access_word(word, address % 4, bytes, lane, block, use, site);
  std::optional<Conflict> conflict;
  for (std::size_t w = word; w < word + bytes / 4; ++w) {
    const auto found = access_word(w, 0, 4, lane, block, use, site);
    if (found && !conflict) conflict = found;
  }
  return conflict;
}

}  // namespace simt

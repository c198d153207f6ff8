#include "common/simt/global_order.hpp"

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
  for (std::size_t i = 0; i < stripes; ++i) stripe_[i].split.clear();
  places_.clear();
}

bool GlobalOrder::ordered(std::uint32_t other_block, unsigned other_thread, Stamp stamp, const Lane& lane,
                          const BlockStanding& block) {
  if (other_block == block.number) {
    if (other_thread == lane.thread || stamp < block.epoch) return true;
    return other_thread / warp_lanes == lane.warp && lane.seen[other_thread % warp_lanes] >= stamp;
  }
  if (block.acquired.items.empty()) return false;
  const std::lock_guard lock(places_mutex_);
  for (const auto& [place, length] : block.acquired.items) {
    const auto& by_block = static_cast<const Place*>(place)->by_block;
    const auto at = by_block.find(other_block);
    if (at == by_block.end() || at->second.position >= length) continue;
    if (stamp <= (other_thread == at->second.thread ? at->second.own_limit : at->second.block_limit)) return true;
  }
  return false;
}

void GlobalOrder::synchronise(const Lane& lane, BlockStanding& block, std::uintptr_t address) {
  const std::lock_guard lock(places_mutex_);
  const bool releases = block.fence > 0;
  auto at = places_.find(address);
  if (at == places_.end()) {
    if (!releases) return;
    at = places_.try_emplace(address, std::make_unique<Place>()).first;
  }
  Place& place = *at->second;
  // Takes what others have given, whether or not a fence follows: a kernel without it would be wrong on paper only.
  if (!place.by_block.empty()) {
    const auto known = std::ranges::find(block.acquired.items, &place, &Acquired::Item::place);
    if (known == block.acquired.items.end()) {
      block.acquired.items.push_back({&place, place.by_block.size()});
    } else {
      known->length = place.by_block.size();
    }
  }
  if (!releases) return;
  // Gives what this thread did before its fence, and what the block did before its last barrier if a thread of it has
  // fenced since then or right before.
  const auto [release, is_new] = place.by_block.try_emplace(block.number);
  if (is_new) release->second.position = place.by_block.size() - 1;
  release->second.thread = lane.thread;
  release->second.own_limit = lane.fence;
  release->second.block_limit = std::min(block.fence, block.epoch - 1);
}

std::optional<GlobalOrder::Conflict> GlobalOrder::touch(Record& r, bool fresh, const Lane& lane, BlockStanding& block,
                                                        Use use, Site site) {
  if (fresh) r = {};
  std::optional<Conflict> conflict;
  if (r.write_block && !(use == Use::atomic && r.write_atomic) &&
      !ordered(r.write_block, r.write_thread, r.written, lane, block)) {
    conflict = Conflict{DefectKind::global_race, true, r.write_block, r.write_thread, r.write_site, true};
  }
  if (use == Use::read) {
    const bool first = r.read_block != block.number || r.read < block.epoch;
    if (first) {
      r.read_block = block.number;
      r.read_thread = static_cast<std::uint16_t>(lane.thread);
      r.readers = Record::one;
      r.read_site = site;
    } else if (r.read_thread != lane.thread && r.readers != Record::several_warps) {
      r.readers = r.read_thread / warp_lanes == lane.warp ? Record::one_warp : Record::several_warps;
    }
    r.read = lane.clock;
    return conflict;
  }
  if (r.read_block && !conflict) {
    bool fine;
    if (r.read_block != block.number || r.readers == Record::one) {
      fine = ordered(r.read_block, r.read_thread, r.read, lane, block);
    } else {
      // Which lanes of the warp have read is not known: any __syncwarp() since then will do.
      fine = r.read < block.epoch ||
             (r.readers == Record::one_warp && r.read_thread / warp_lanes == lane.warp && lane.last_sync >= r.read);
    }
    if (!fine) conflict = Conflict{DefectKind::global_race, true, r.read_block, r.read_thread, r.read_site, false};
  }
  r.read_block = 0;
  r.write_block = block.number;
  r.write_thread = static_cast<std::uint16_t>(lane.thread);
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
  if (status == Memory::shared) {
    if (use != Use::read) {
      // One of its readers is on record still; if that is this block, the other one is not.
      const bool other = record.read_block != block.number;
      conflict = Conflict{DefectKind::global_race, other, record.read_block, record.read_thread, record.read_site, false};
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
  state = static_cast<std::uint8_t>(next | written);
  return conflict;
}

std::optional<GlobalOrder::Conflict> GlobalOrder::access(const Lane& lane, BlockStanding& block, std::uintptr_t address,
                                                         unsigned bytes, Use use, Site site) {
  if (use == Use::atomic) synchronise(lane, block, address);
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

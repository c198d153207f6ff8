#include "common/simt/observe/causality.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/simt/observe/lane.hpp"

namespace simt {

static_assert(lanes_of_a_warp == warp_lanes);

namespace {

constexpr std::size_t most_pending = 64;
constexpr std::size_t most_suspended = 1 << 16;
// A program with so many races is wrong anyway: no need to look for excuses any longer.
constexpr std::size_t most_vain_searches = 4096;

// A word is known by its first byte.
std::uintptr_t word_of(std::uintptr_t address) {
  return address & ~std::uintptr_t{3};
}

void join(std::array<Stamp, warp_lanes>& to, const std::array<Stamp, warp_lanes>& from) {
  for (unsigned l = 0; l < warp_lanes; ++l) to[l] = std::max(to[l], from[l]);
}

void add(View& view, const Acquired& item) {
  for (Acquired& known : view) {
    if (known.log != item.log || known.device != item.device) continue;
    known.length = std::max(known.length, item.length);
    return;
  }
  view.push_back(item);
}

void add(View& view, const View& items) {
  for (const Acquired& item : items) add(view, item);
}

void note(std::vector<Pending>& all, const Pending& pending) {
  const auto same = std::ranges::find_if(all, [&](const Pending& known) {
    return known.address == pending.address && known.is_volatile == pending.is_volatile;
  });
  if (same != all.end()) {
    *same = pending;
    return;
  }
  if (all.size() >= most_pending) all.erase(all.begin());
  all.push_back(pending);
}

}  // namespace

struct Causality::Target {
  std::uint32_t block;
  unsigned thread;
  Stamp stamp;
  std::uintptr_t word;

  bool is_covered(const Release& r, const ReleaseLog& log) const {
    if (r.block != block) return false;
    return (log.word == word && r.thread == thread && stamp <= r.at) || (r.thread == thread && stamp <= r.fenced.own) ||
           stamp < r.fenced.epoch ||
           (r.thread / warp_lanes == thread / warp_lanes && stamp <= r.fenced.warp[thread % warp_lanes]) ||
           (r.published && stamp <= r.published->limits[thread]);
  }
};

// Looks for a way from what a thread has acquired back to the target.
class Causality::Search {
 public:
  Search(const Target& target, bool any_scope) : target_(target), any_scope_(any_scope) {}

  bool direct(const View& view, std::uint32_t reader) const {
    return std::ranges::any_of(view, [&](const Acquired& item) {
      const auto at = item.log->of_block.find(target_.block);
      if (at == item.log->of_block.end()) return false;
      // The latest first: it covers most.
      for (auto place = at->second.rbegin(); place != at->second.rend(); ++place) {
        if (*place >= item.length) continue;
        const Release& release = item.log->releases[*place];
        if (reaches(release, item, reader) && target_.is_covered(release, *item.log)) return true;
      }
      return false;
    });
  }

  bool thorough(const View& view, std::uint32_t reader) {
    add_all(view, reader);
    while (!open_.empty()) {
      const auto [item, block] = open_.back();
      open_.pop_back();
      if (visit(item, block)) return true;
    }
    return false;
  }

 private:
  bool reaches(const Release& release, const Acquired& item, std::uint32_t reader) const {
    return any_scope_ || release.block == reader || (release.device && item.device);
  }
  void add_all(const View& view, std::uint32_t reader) {
    for (const Acquired& item : view) open_.push_back({item, reader});
  }
  bool follow(const Release& release, const ReleaseLog& log) {
    if (target_.is_covered(release, log)) return true;
    if (release.fenced.view) add_all(*release.fenced.view, release.block);
    if (release.published) add_all(release.published->view, release.block);
    return false;
  }
  bool visit(const Acquired& item, std::uint32_t reader) {
    const auto& releases = item.log->releases;
    if (item.device || any_scope_) {
      std::size_t& done = done_[{item.log, 0}];
      for (; done < item.length; ++done) {
        if ((releases[done].device || any_scope_) && follow(releases[done], *item.log)) return true;
      }
    }
    const auto at = item.log->of_block.find(reader);
    if (at == item.log->of_block.end()) return false;
    std::size_t& done = done_[{item.log, reader}];
    for (; done < at->second.size() && at->second[done] < item.length; ++done) {
      if (follow(releases[at->second[done]], *item.log)) return true;
    }
    return false;
  }

  const Target& target_;
  bool any_scope_;
  std::vector<std::pair<Acquired, std::uint32_t>> open_;
  std::map<std::pair<const ReleaseLog*, std::uint32_t>, std::size_t> done_;  // by block of the reader; 0: any
};

void Causality::start_launch() {
  log_of_.clear();
  logs_.clear();
  any_release_ = false;
  vain_searches_ = 0;
  suspended_.clear();
  guesses_.clear();
  locks_.clear();
  any_guess_ = false;
  fences_of_pollers_.clear();
}

const ReleaseLog* Causality::log_at(const Pending& pending) {
  const auto at = log_of_.find({pending.address, pending.key_block});
  return at == log_of_.end() ? nullptr : at->second;
}

void Causality::acquire(View& view, const Pending& pending, bool device) {
  const ReleaseLog* const log = log_at(pending);
  if (log) add(view, {log, log->releases.size(), device});
}

void Causality::fence(Lane& lane, BlockStanding& block, Scope scope) {
  LaneOrder& order = *lane.order;
  const bool device = scope == Scope::device;
  order.used = block.ordering = block.fences = true;
  block.fenced_since_barrier |= device;
  if (!order.pending.empty() || !block.pending.empty()) {
    const std::lock_guard lock(mutex_);
    for (Pending& pending : order.pending) {
      (device ? pending.fenced_device : pending.fenced_block) = true;
      if (pending.seen) acquire(order.view, pending, pending.device && device);
    }
    // One that is not seen yet may be used later; and after a fence of block scope a wider one may follow.
    std::erase_if(order.pending, [&](const Pending& pending) { return pending.seen && (device || !pending.device); });
    for (const Pending& pending : block.pending) acquire(order.view, pending, pending.device && device);
  }
  Fenced fenced{lane.clock, block.epoch, lane.seen};
  if (!order.view.empty() || !block.view.empty()) {
    View view = block.view;
    add(view, order.view);
    fenced.view = std::make_shared<const View>(std::move(view));
  }
  if (device) order.device = fenced;
  order.any = std::move(fenced);
  if (!order.polls) return;
  const std::lock_guard lock(mutex_);
  Fences& known = fences_of_pollers_[{block.number, lane.thread}];
  known.any = lane.clock;
  if (device) known.device = lane.clock;
}

void Causality::release(const Lane& lane, const BlockStanding& block, std::uintptr_t address, bool shared,
                        Scope scope) {
  if (!block.fences) return;
  const LaneOrder& order = *lane.order;
  const auto make = [&](const Fenced& fenced, bool device) {
    Release release{block.number, lane.thread, device, lane.clock, fenced, block.published};
    join(release.fenced.warp, order.published);
    return release;
  };
  const bool handed_on =
      block.published || std::ranges::any_of(order.published, [](Stamp stamp) { return stamp != 0; });
  const auto any_own = order.any.own, device_own = order.device.own;
  if (any_own == 0 && !handed_on) return;

  const std::lock_guard lock(mutex_);
  ReleaseLog*& log = log_of_[{word_of(address), shared ? block.number : 0}];
  if (!log) log = &logs_.emplace_back(ReleaseLog{word_of(address), {}, {}});
  const auto append = [&](Release release) {
    std::vector<std::uint32_t>& places = log->of_block[release.block];
    if (!places.empty()) {
      const Release& last = log->releases[places.back()];
      const bool same = last.thread == release.thread && last.device == release.device &&
                        last.fenced.own == release.fenced.own && last.fenced.epoch == release.fenced.epoch &&
                        last.fenced.warp == release.fenced.warp && last.published == release.published;
      if (same) return;
    }
    places.push_back(static_cast<std::uint32_t>(log->releases.size()));
    log->releases.push_back(std::move(release));
  };
  if (scope == Scope::device && (device_own != 0 || handed_on)) append(make(order.device, true));
  if (scope == Scope::block || any_own > device_own) append(make(order.any, false));
  any_release_ = orders_by_flags_ = true;
}

bool Causality::is_lock(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  return locks_.contains(word_of(address));
}

void Causality::performed(Lane& lane, BlockStanding& block, std::uintptr_t address, bool shared, Scope scope,
                          bool acquires) {
  if (!acquires) {
    const std::lock_guard lock(mutex_);
    locks_.insert(word_of(address));
  }
  if (!any_release_) return;
  const Pending pending{word_of(address), shared ? block.number : 0, scope == Scope::device, false, acquires, false};
  {
    const std::lock_guard lock(mutex_);
    if (!log_at(pending)) return;
  }
  lane.order->used = block.ordering = true;
  note(lane.order->pending, pending);
}

void Causality::seen(Lane& lane, BlockStanding& block, std::uintptr_t address) {
  LaneOrder& order = *lane.order;
  if (!block.has_seen(word_of(address))) block.seen[block.next_seen++ % block.seen.size()] = word_of(address);
  if (order.pending.empty()) return;
  const auto at = std::ranges::find_if(order.pending, [&](const Pending& pending) {
    return pending.address == word_of(address) && !pending.is_volatile;
  });
  if (at == order.pending.end()) return;
  at->seen = true;
  const bool by_fence = at->fenced_device || (at->fenced_block && !at->device);
  if (!at->acquires && !at->fenced_device && !at->fenced_block) return;
  {
    const std::lock_guard lock(mutex_);
    acquire(order.view, *at, at->device && (at->acquires || at->fenced_device));
  }
  if (at->acquires || by_fence) order.pending.erase(at);
}

void Causality::volatile_read(Lane& lane, BlockStanding& block, std::uintptr_t address) {
  LaneOrder& order = *lane.order;
  order.used = order.polls = block.ordering = true;
  // It is yet to be read: what it finds is known at the fence.
  note(order.pending, {word_of(address), 0, true, true, false, true});
}

// A barrier stands for the fence after an atomic: CUDA's example of the last block has no other.
void Causality::settle(LaneOrder& order, View& view) {
  for (const Pending& pending : order.pending) {
    if (pending.seen && !pending.is_volatile) acquire(view, pending, pending.device);
  }
  std::erase_if(order.pending, [](const Pending& pending) { return pending.seen && !pending.is_volatile; });
}

void Causality::barrier(const std::vector<Lane>& lanes, unsigned count, BlockStanding& block) {
  if (!block.ordering) return;
  const std::lock_guard lock(mutex_);
  for (unsigned t = 0; t < count; ++t) {
    LaneOrder& order = *lanes[t].order;
    if (!order.used) continue;
    settle(order, block.view);
    add(block.view, order.view);
    order.view.clear();
    // Another thread of the block may be the one to fence.
    for (const Pending& pending : order.pending) {
      if (pending.is_volatile) note(block.pending, pending);
    }
  }
  if (!std::exchange(block.fenced_since_barrier, false)) return;
  const auto published = std::make_shared<Published>();
  published->limits.reserve(count);
  for (unsigned t = 0; t < count; ++t) published->limits.push_back(lanes[t].order->device.own);
  published->view = block.view;
  block.published = published;
}

void Causality::sync_warp(Lane* lanes, LaneMask mask, BlockStanding& block) {
  if (!block.ordering) return;
  const auto for_all = [&](auto what) {
    for (LaneMask rest = mask; rest; rest &= rest - 1) what(lanes[std::countr_zero(rest)]);
  };
  View view;
  std::array<Stamp, warp_lanes> published{};
  const std::lock_guard lock(mutex_);
  for_all([&](Lane& lane) {
    settle(*lane.order, view);
    add(view, lane.order->view);
    join(published, lane.order->published);
  });
  for_all([&](Lane& lane) { published[lane.lane] = std::max(published[lane.lane], lane.order->device.own); });
  for_all([&](Lane& lane) {
    lane.order->used = true;
    lane.order->view = view;
    lane.order->published = published;
  });
}

Order Causality::order(std::uint32_t other_block, unsigned other_thread, Stamp stamp, const Lane& lane,
                       const BlockStanding& block, bool thorough, std::uintptr_t word) {
  if (other_block == block.number) {
    if (other_thread == lane.thread || stamp < block.epoch) return Order::before;
    if (other_thread / warp_lanes == lane.warp && lane.seen[other_thread % warp_lanes] >= stamp) return Order::before;
  }
  if (!block.ordering) return Order::none;
  const View& mine = lane.order->view;
  const auto& pending = lane.order->pending;
  if (mine.empty() && block.view.empty() && (pending.empty() || !thorough)) return Order::none;
  const std::lock_guard lock(mutex_);
  const Target target{other_block, other_thread, stamp, word};
  const auto finds = [&](bool any_scope) {
    Search search(target, any_scope);
    if (search.direct(mine, block.number) || search.direct(block.view, block.number)) return true;
    return thorough && (search.thorough(mine, block.number) || search.thorough(block.view, block.number));
  };
  if (thorough && vain_searches_ >= most_vain_searches) thorough = false;
  if (finds(false)) return Order::before;
  if (!thorough) return Order::none;
  ++vain_searches_;
  if (finds(true)) return Order::narrow;
  View view;
  for (const Pending& each : pending) acquire(view, each, true);
  return Search(target, true).direct(view, block.number) ? Order::no_reader_fence : Order::none;
}

void Causality::suspend(const Suspended& what, Stamp read) {
  const std::lock_guard lock(mutex_);
  const Known known{what.read_block, what.read_thread, what.read_site, what.write_site};
  if (suspended_.size() >= most_suspended && !suspended_.contains(known)) return;
  Doubt& doubt = suspended_.try_emplace(known, Doubt{what, read}).first->second;
  if (doubt.read < read) doubt = {what, read};
}

void Causality::suspend_guess(const Suspended& what) {
  const std::lock_guard lock(mutex_);
  if (guesses_.size() >= most_suspended) return;
  guesses_.insert_or_assign({what.read_block, what.read_thread, what.address}, what);
  any_guess_ = true;
}

void Causality::confirm_guess(std::uint32_t block, unsigned thread, std::uintptr_t word) {
  if (!any_guess_) return;
  const std::lock_guard lock(mutex_);
  guesses_.erase({block, thread, word_of(word)});
}

bool Causality::has_guessed(std::uint32_t block, unsigned thread) {
  const std::lock_guard lock(mutex_);
  const auto first = guesses_.lower_bound({block, thread, 0});
  return first != guesses_.end() && std::get<0>(first->first) == block && std::get<1>(first->first) == thread;
}

std::vector<Causality::Suspended> Causality::finish_launch() {
  std::vector<Suspended> result;
  for (const auto& [reader, what] : guesses_) result.push_back(what);
  guesses_.clear();
  any_guess_ = false;
  for (const auto& [known, doubt] : suspended_) {
    const auto at = fences_of_pollers_.find({doubt.what.read_block, doubt.what.read_thread});
    const bool near = doubt.what.read_block == doubt.what.write_block;
    const Stamp fenced = at == fences_of_pollers_.end() ? 0 : near ? at->second.any : at->second.device;
    if (fenced < doubt.read) result.push_back(doubt.what);
  }
  suspended_.clear();
  return result;
}

}  // namespace simt

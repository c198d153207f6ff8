#include "common/simt/run/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/observe/sink.hpp"

namespace simt {

__thread Block* running_block = nullptr;
__thread Block* inspected_block = nullptr;

namespace {

void fiber_entry() {
  running_block->run_body();
}

// A thread that reads one word over and over waits for somebody. So, perhaps, does one that goes on for very long.
constexpr std::uint64_t spins_before_others = 4, full_before_others = 1024;
// So often an atomic or volatile access finds the same before others run; less often if it has come to that before.
constexpr unsigned found_before_others = 8, found_again = 2;

// At an aligned address, and at most eight bytes. Not by memcpy(), which would be taken for the kernel's.
std::uint64_t value_at(std::uintptr_t address, unsigned bytes) {
  const auto load = [&]<class T>(T) { return __atomic_load_n(reinterpret_cast<const T*>(address), __ATOMIC_RELAXED); };
  switch (bytes) {
    case 1:
      return load(std::uint8_t{});
    case 2:
      return load(std::uint16_t{});
    case 4:
      return load(std::uint32_t{});
    default:
      return load(std::uint64_t{});
  }
}

// Or none of those that have not been put together yet.
bool is_last_record(const Lane& lane, std::uintptr_t address) {
  return lane.recorded == 0 || lane.records->addresses[lane.recorded - 1] == address;
}

}  // namespace

Block::Block(Workplace& workplace)
    : stacks_(std::make_unique<StackPool>(0)),
      lanes_(max_threads_per_block),
      orders_(max_threads_per_block),
      shared_(workplace.shared),
      recorder_(workplace.recorder),
      order_(&global_order()),
      top_(workplace.top) {
  for (unsigned t = 0; t < max_threads_per_block; ++t) {
    Lane& lane = lanes_[t];
    lane.thread = t;
    lane.warp = static_cast<std::uint8_t>(t / warp_lanes);
    lane.lane = static_cast<std::uint8_t>(t % warp_lanes);
    lane.order = &orders_[t];
    lane.records = recorder_.records_of(lane.lane);
  }
}

void Block::start_kernel(Grid& grid) {
  grid_ = &grid;
  barriers_ = tensor_flops_ = 0;
  reported_.clear();
  const auto kernel = reinterpret_cast<std::uintptr_t>(grid.launch.kernel);
  kernel_name_ = grid.kernel;
  counts_ = grid.sink && grid.sink->counts();
  looks_at_writes_ = global_.has_matrices() || (grid.sink && grid.sink->watches_writes());
  code_ = code_of(kernel);
  copies_.clear();
  copied_from_.clear();
  const dim3 size = grid.launch.block;
  threads_ = size.x * size.y * size.z;
  // Linux lets a process have so many stacks only: where all blocks must be resident, there is none to spare.
  if (stacks_->count() < threads_ || (grid.launch.cooperative && stacks_->count() > threads_)) {
    stacks_.reset();
    stacks_ = std::make_unique<StackPool>(threads_);
  }
}

void Block::finish_kernel(std::uint64_t& barriers, std::uint64_t& tensor_flops) {
  grid_ = nullptr;
  barriers += barriers_;
  tensor_flops += tensor_flops_;
}

void Block::start(std::uint64_t index) {
  Grid& grid = *grid_;
  const dim3 size = grid.launch.block, extent = grid.launch.grid;
  const uint3 place{static_cast<unsigned>(index % extent.x), static_cast<unsigned>(index / extent.x % extent.y),
                    static_cast<unsigned>(index / extent.x / extent.y)};
  // What "was written at the start" must lie before the first epoch.
  shared_.start_block(++top_);
  const Stamp now = ++top_;
  shared_.start_epoch(now);
  forget_order(static_cast<std::uint32_t>(index + 1), now);
  shared_.set_causality(order_->causality(), standing_);

  barriers_before_ = barriers_;
  arrived_ = false;
  for (unsigned t = 0; t < threads_; ++t) {
    Lane& lane = lanes_[t];
    lane.fiber = make_fiber(stacks_->top(t), fiber_entry);
    lane.stack = stacks_->bottom(t);
    lane.state = LaneState::ready;
    lane.context = {{t % size.x, t / size.x % size.y, t / size.x / size.y}, place, size, extent};
    lane.clock = now;
    lane.last_sync = 0;
    lane.recorded = 0;
    lane.wait_site = 0;
    lane.whole_grid = false;
    lane.spins = lane.full = 0;
    lane.watched = lane.found = 0;
    lane.gave_way = false;
    lane.copies.clear();
    lane.copy_group = 0;
  }
}

Block::Progress Block::advance() {
  running_block = this;
  const Progress progress = go_on();
  running_block = nullptr;
  if (grid_->aborted) stacks_->forget_frames();
  return progress;
}

Block::Progress Block::go_on() {
  moved_ = false;
  const auto so_far = [&] { return moved_ ? Progress::moved : Progress::stalled; };
  for (;;) {
    if (arrived_ && !grid_has_arrived()) return so_far();
    const unsigned warps = (threads_ + warp_lanes - 1) / warp_lanes;
    for (unsigned turn = 0; turn < warps && !grid_->aborted; ++turn) {
      const unsigned first = (grid_->last_warps_first ? warps - 1 - turn : turn) * warp_lanes;
      run_warp(&lanes_[first], std::min(warp_lanes, threads_ - first));
    }
    if (grid_->aborted) return Progress::ended;
    bool runs = false, waits = false, waits_for_grid = false, must_wait = true;
    for (unsigned t = 0; t < threads_; ++t) {
      const Lane& lane = lanes_[t];
      runs |= lane.state == LaneState::buffer_full;
      must_wait &= lane.state != LaneState::buffer_full || gives_way(lane);
      waits |= lane.state == LaneState::at_barrier;
      waits_for_grid |= lane.state == LaneState::at_barrier && lane.whole_grid;
    }
    if (runs && must_wait) return so_far();  // for another block
    if (runs) continue;                      // a warp that waited for another one
    if (!waits) return Progress::ended;
    if (waits_for_grid) {
      openings_before_ = grid_->openings;
      arrived_ = true;
      const std::lock_guard lock(grid_->barrier);
      if (++grid_->arrived < grid_->to_run) continue;
      // The last block has come: what any has done comes before what any does from now on.
      if (grid_->sink) {
        report_unfenced_looks(*grid_);
        order_->start_epoch();
      }
      grid_->arrived = 0;
      ++grid_->openings;
      continue;
    }
    pass_barrier();
  }
}

// Whether the barrier of the grid, where this block waits, has opened; goes on from there if so.
bool Block::grid_has_arrived() {
  if (grid_->openings == openings_before_) return false;
  arrived_ = false;
  forget_order(standing_.number, standing_.epoch);
  pass_barrier();
  return true;
}

// What the threads had learnt from others by flags: a launch begins, or its grid has passed a barrier.
void Block::forget_order(std::uint32_t number, Stamp epoch) {
  if (standing_.ordering) std::ranges::fill(orders_, LaneOrder{});
  standing_ = {};
  standing_.number = number;
  standing_.epoch = epoch;
}

void Block::run_body() {
  grid_->body.call(grid_->body.data);
  // What was copied asynchronously and never waited for arrives too late for everyone: it may as well not arrive.
  stop(LaneState::ended);
}

[[gnu::always_inline]] inline void Block::resume(Lane& lane) {
  lane.state = LaneState::ready;
  current_ = &lane;
  inspected_block = grid_->sink ? this : nullptr;
  switch_fiber(&scheduler_, lane.fiber);
  inspected_block = nullptr;
  KeptLock::give_if_asked();
  check_spin(lane);
}

void Block::stop(LaneState state) {
  Lane& lane = *current_;
  if (!doubtful_.empty()) compare_written();
  lane.state = state;
  switch_fiber(&lane.fiber, scheduler_);  // comes back only if the lane is resumed
}

void Block::abandon(cudaError_t why) {
  cudaError_t none = cudaSuccess;
  grid_->fault.compare_exchange_strong(none, why);
  grid_->aborted = true;
  stop(LaneState::ended);
  __builtin_unreachable();
}

// Takes the warp's lanes to the next barrier of the block, or to their ends; or, if those that could go on read the same
// words over and over, so far that another warp may write them.
void Block::run_warp(Lane* lanes, unsigned count) {
  const bool inspects = grid_->sink;
  for (;;) {
    bool runs = false, waits_for_others = false, in_collective = false;
    for (unsigned l = 0; l < count; ++l) {
      Lane& lane = lanes[l];
      if (lane.state == LaneState::ready || lane.state == LaneState::buffer_full) resume(lane);
      if (lane.state == LaneState::buffer_full) (gives_way(lane) ? waits_for_others : runs) = true;
      in_collective |= lane.state == LaneState::in_collective;
      if (grid_->aborted) return;
    }
    if (inspects) recorder_.merge(lanes, count);
    const bool served = in_collective && serve_collectives(lanes, count);
    if (inspects) hand_on_requests(lanes->warp);
    if (grid_->aborted) return;
    if (served || runs || (in_collective && serve_company(lanes, count))) continue;
    if (in_collective && !waits_for_others) return explain_standstill(lanes, count);
    recorder_.flush();
    if (inspects) hand_on_requests(lanes->warp);
    return;
  }
}

// To whoever watches them.
void Block::hand_on_requests(unsigned warp) {
  if (!grid_->sink->watches_requests()) return;
  for (const Recorder::Seen& seen : recorder_.take_seen()) {
    const Site site = tag_site(seen.tag);
    WarpRequest request{.launch = grid_->launch,
                        .block = lanes_[0].context.block,
                        .warp = warp,
                        .barriers = barriers_ - barriers_before_,
                        .pc = place_of(site),
                        .shared = tag_shared(seen.tag),
                        .store = tag_store(seen.tag),
                        .atomic = tag_atomic(seen.tag),
                        .async = copies_.contains(site),
                        .bytes = tag_bytes(seen.tag),
                        .mask = seen.mask,
                        .address = seen.address,
                        .sectors = seen.sectors,
                        .lines = seen.lines,
                        .wavefronts = seen.wavefronts,
                        .conflicts = seen.conflicts};
    if (request.shared && request.store && request.async) {
      std::ranges::transform(request.address, request.source.begin(), [&](std::uintptr_t to) {
        const auto known = copied_from_.find(to);
        return known == copied_from_.end() ? 0 : known->second;
      });
    }
    if (request.shared) std::ranges::transform(request.address, request.address.begin(), shared_place);
    grid_->sink->requested(std::move(request));
  }
}

std::uintptr_t Block::last_place(const Lane& lane) const {
  if (lane.state == LaneState::at_barrier || lane.state == LaneState::in_collective) return place_of(lane.wait_site);
  if (lane.recorded > 0) return place_of(tag_site(lane.records->tags[lane.recorded - 1]));
  return lane.wait_site ? place_of(lane.wait_site) : 0;
}

LaneMask Block::live_lanes() const {
  const Lane* lanes = current_ - current_->lane;
  LaneMask live = 0;
  for (unsigned l = 0; l < warp_lanes && lanes[l].thread < threads_; ++l) {
    live |= LaneMask{lanes[l].state != LaneState::ended} << l;
  }
  return live;
}

void Block::wait_in_collective(const CollectiveCall& call, const void* pc) {
  Lane& lane = *current_;
  lane.wait_site = site_of(pc);
  if (!(call.mask >> lane.lane & 1)) {
    const Unobserved unobserved;
    report(DefectKind::bad_mask,
           fmt::format("the mask 0x{:08x} of {} lacks the calling lane {}", call.mask, call.operation, lane.lane),
           party(lane, lane.wait_site, "calls it"));
    abandon();
  }
  lane.call = call;
  stop(LaneState::in_collective);
}

void Block::wait_for_company(LaneMask* lanes, const void* pc) {
  const auto tell = [](void* const* all, LaneMask together) {
    for (unsigned l = 0; l < warp_lanes; ++l) {
      if (all[l]) *static_cast<LaneMask*>(all[l]) = together;
    }
  };
  wait_in_collective({.mask = LaneMask{1} << current_->lane,
                      .operation = "__activemask",
                      .mine = lanes,
                      .combine = tell,
                      .whoever_comes = true},
                     pc);
}

// No lane of the warp can go on: those that ask who is with them learn it. Where they ask in several places, first those
// in the first of them, because the others may be there where the warp comes together again.
bool Block::serve_company(Lane* lanes, unsigned count) {
  LaneMask live = 0;
  const Lane* first = nullptr;
  const auto asks = [](const Lane& lane) { return lane.state == LaneState::in_collective && lane.call.whoever_comes; };
  for (unsigned l = 0; l < count; ++l) {
    live |= LaneMask{lanes[l].state != LaneState::ended} << l;
    if (asks(lanes[l]) && (!first || lanes[l].wait_site < first->wait_site)) first = &lanes[l];
  }
  if (!first) return false;
  CollectiveCall call = first->call;
  for (unsigned l = 0; l < count; ++l) {
    // g++ may have made two call sites of one line.
    const bool together = asks(lanes[l]) && (lanes[l].wait_site == first->wait_site ||
                                             same_line(place_of(lanes[l].wait_site), place_of(first->wait_site)));
    call.mask |= LaneMask{together} << l;
  }
  perform(lanes, call);
  if (call.mask == live) recorder_.flush();
  return true;
}

void Block::missing_source(const char* operation, unsigned source) {
  if (!grid_->sink) return;
  const Unobserved unobserved;
  const Lane& lane = *current_;
  const unsigned thread = lane.thread - lane.lane + source;
  const char* const why = thread >= threads_                         ? "which the block does not have"
                          : lanes_[thread].state == LaneState::ended ? "which has ended"
                                                                     : "which is not in its mask";
  if (!is_news(DefectKind::bad_mask, lane.wait_site, 0)) return;
  report(DefectKind::bad_mask, fmt::format("{} reads from lane {} of the warp, {}", operation, source, why),
         party(lane, lane.wait_site, "calls it"));
}

// Performs what all lanes concerned have come for. Lanes that have ended, or never were, are not waited for.
bool Block::serve_collectives(Lane* lanes, unsigned count) {
  bool served = false;
  LaneMask live = 0;
  for (unsigned l = 0; l < count; ++l) live |= LaneMask{lanes[l].state != LaneState::ended} << l;
  for (unsigned l = 0; l < count; ++l) {
    if (lanes[l].state != LaneState::in_collective) continue;
    const CollectiveCall call = lanes[l].call;
    bool complete = !call.whoever_comes;
    for (LaneMask rest = call.mask & live; complete && rest; rest &= rest - 1) {
      const Lane& other = lanes[std::countr_zero(rest)];
      complete = other.state == LaneState::in_collective && other.call.mask == call.mask &&
                 other.call.operation == call.operation;
    }
    if (!complete) continue;
    if (call.needs_whole_warp && live != all_lanes) {
      if (grid_->sink) {
        report(DefectKind::bad_mask,
               fmt::format("{} needs all 32 lanes, and of this warp only 0x{:08x} are there", call.operation, live),
               party(lanes[l], lanes[l].wait_site, "waits in it"));
      }
      grid_->aborted = true;
      return false;
    }
    CollectiveCall among_live = call;
    among_live.mask &= live;
    perform(lanes, among_live);
    if (among_live.mask == live) recorder_.flush();
    served = true;
  }
  return served;
}

void Block::perform(Lane* lanes, const CollectiveCall& call) {
  void* mine[warp_lanes] = {};
  Stamp latest = 0;
  std::array<Stamp, warp_lanes> joined{};
  for (LaneMask rest = call.mask; rest; rest &= rest - 1) {
    Lane& lane = lanes[std::countr_zero(rest)];
    mine[lane.lane] = lane.call.mine;
    lane.state = LaneState::ready;
    latest = std::max(latest, lane.clock);
    if (call.orders_memory) {
      for (unsigned l = 0; l < warp_lanes; ++l) joined[l] = std::max(joined[l], lane.seen[l]);
    }
  }
  if (call.combine) call.combine(mine, call.mask);
  if (!call.orders_memory) return;
  order_->causality().sync_warp(lanes, call.mask, standing_);
  for (LaneMask rest = call.mask; rest; rest &= rest - 1) joined[std::countr_zero(rest)] = latest;
  for (LaneMask rest = call.mask; rest; rest &= rest - 1) {
    Lane& lane = lanes[std::countr_zero(rest)];
    lane.seen = joined;
    lane.last_sync = latest;
    lane.clock = latest + 1;
  }
  top_ = std::max(top_, latest + 1);
}

// No lane of the warp can go on: says what each side waits for.
void Block::explain_standstill(Lane* lanes, unsigned count) {
  const auto waiting =
      std::find_if(lanes, lanes + count, [](const Lane& l) { return l.state == LaneState::in_collective; });
  const Lane* missing = waiting;
  for (unsigned l = 0; l < count; ++l) {
    const Lane& other = lanes[l];
    if (!(waiting->call.mask >> l & 1) || other.state == LaneState::ended) continue;
    if (other.state == LaneState::at_barrier) missing = &other;
    if (other.state == LaneState::in_collective && missing == waiting &&
        (other.call.mask != waiting->call.mask || other.call.operation != waiting->call.operation)) {
      missing = &other;
    }
  }
  const bool at_barrier = missing->state == LaneState::at_barrier;
  if (grid_->sink) {
    report(
        at_barrier ? DefectKind::deadlock : DefectKind::bad_mask,
        fmt::format("{} with mask 0x{:08x}", waiting->call.operation, waiting->call.mask),
        party(*waiting, waiting->wait_site, "waits in it"),
        party(*missing, missing->wait_site,
              at_barrier ? "waits at __syncthreads()"
                         : fmt::format("waits in {} with mask 0x{:08x}", missing->call.operation, missing->call.mask)));
  }
  grid_->aborted = true;
}

// Right after the lane has run.
void Block::check_spin(Lane& lane) {
  if (lane.state != LaneState::buffer_full) {
    lane.spins = lane.full = 0;
    moved_ = true;
    return;
  }
  if (std::exchange(lane.gave_way, false)) {
    lane.spins = std::max(lane.spins, spins_before_others) + 1;
    return;
  }
  ++lane.full;
  const auto* first = lane.records->addresses;
  const Tag* const tags = lane.records->tags;
  // Reads of the same word, or of two to four words in turn; or atomics, if the word did not change.
  bool spins = std::none_of(tags, tags + lane.recorded, tag_store) && (lane.watched != *first || lane.found > 1);
  for (unsigned period = 1; spins; ++period) {
    if (std::equal(first + period, first + lane.recorded, first)) break;
    spins = period < 4;
  }
  lane.spins = spins ? lane.spins + 1 : 0;
  if (lane.spins <= spins_before_others) {
    moved_ = true;
  } else {
    lane.spin_address = *first;
    lane.wait_site = tag_site(tags[0]);
  }
}

bool Block::gives_way(const Lane& lane) {
  return lane.spins > spins_before_others || lane.full > full_before_others;
}

void Block::look_for_spin(std::uintptr_t address, unsigned bytes, const void* pc) {
  Lane& lane = *current_;
  const bool again = lane.watched == address && is_last_record(lane, address);
  lane.watched = address;
  if (!again) {
    lane.found = 0;
    return;
  }
  // It has been accessed before: the address is right.
  const std::uint64_t value = value_at(address, bytes);
  if (value != std::exchange(lane.watched_value, value)) lane.found = 0;
  if (++lane.found < (lane.spins > spins_before_others ? found_again : found_before_others)) return;
  lane.gave_way = true;
  lane.spin_address = address;
  lane.wait_site = site_of(pc);
  stop(LaneState::buffer_full);
}

void Block::give_way() {
  current_->full = std::max(current_->full, full_before_others) + 1;
  stop(LaneState::buffer_full);
}

void Block::explain_deadlock(const std::string& remark) const {
  const auto is = [&](LaneState state) {
    return std::find_if(lanes_.begin(), lanes_.begin() + threads_,
                        [&](const Lane& lane) { return lane.state == state; });
  };
  if (const auto lane = is(LaneState::buffer_full); lane != lanes_.begin() + threads_) {
    report(DefectKind::deadlock, describe(lane->spin_address, lane->wait_site, "reads") + remark,
           party(*lane, lane->wait_site, "reads it again and again, and nobody changes it"));
  } else if (const auto waiting = is(LaneState::at_barrier); waiting != lanes_.begin() + threads_) {
    report(DefectKind::deadlock, "the barrier of the grid" + remark,
           party(*waiting, waiting->wait_site, "waits at it"));
  }
}

void Block::wait_for_grid(const void* pc) {
  Lane& lane = *current_;
  if (!is_cooperative()) {
    const Unobserved unobserved;
    report(DefectKind::deadlock, "the barrier of the grid, in a launch that is not cooperative",
           party(lane, site_of(pc), "comes to it"));
    abandon();
  }
  lane.whole_grid = true;
  wait_at_barrier(pc);
}

void Block::wait_at_barrier(const void* pc, int predicate) {
  current_->wait_site = site_of(pc);
  current_->predicate = predicate;
  current_->tile = 0;
  stop(LaneState::at_barrier);
}

void Block::wait_for_tile(unsigned tile, const void* offer, const void* pc) {
  current_->wait_site = site_of(pc);
  current_->tile = tile;
  if (offer) current_->offer = offer;  // else the others may still be at the earlier one
  stop(LaneState::at_barrier);
}

// Opens the barriers of those tiles whose threads have all come, or have ended. False if there is none.
bool Block::pass_barriers_of_tiles() {
  bool any = false;
  for (unsigned t = 0; t < threads_; ++t) {
    Lane& lane = lanes_[t];
    lane.tile_is_here = false;
    if (lane.state != LaneState::at_barrier || lane.tile == 0) continue;
    const auto first = lanes_.begin() + t / lane.tile * lane.tile;
    const auto end = lanes_.begin() + std::min(threads_, (t / lane.tile + 1) * lane.tile);
    lane.tile_is_here = std::all_of(first, end, [&](const Lane& other) {
      return other.state == LaneState::ended || (other.state == LaneState::at_barrier && other.tile == lane.tile);
    });
    any |= lane.tile_is_here;
  }
  if (any) open_barrier([](const Lane& lane) { return lane.tile_is_here; });
  return any;
}

// Every thread of the block waits at a barrier or has ended.
void Block::pass_barrier() {
  if (pass_barriers_of_tiles()) return;
  if (grid_->sink) check_barrier();
  open_barrier([](const Lane&) { return true; });
}

// What all threads of the block have done so far comes before what any does from now on, even where only some go on: of
// the barriers of tiles, this is more than CUDA promises.
template <class Opens>
void Block::open_barrier(Opens opens) {
  order_->causality().barrier(lanes_, threads_, standing_);
  const Stamp now = ++top_;
  predicates_or_ = predicates_count_ = 0;
  predicates_and_ = 1;
  for (unsigned t = 0; t < threads_; ++t) {
    Lane& lane = lanes_[t];
    if (lane.state != LaneState::at_barrier || !opens(lane)) continue;
    predicates_or_ |= lane.predicate != 0;
    predicates_and_ &= lane.predicate != 0;
    predicates_count_ += lane.predicate != 0;
    lane.clock = now;
    lane.state = LaneState::ready;
    lane.whole_grid = false;
  }
  standing_.epoch = now;
  shared_.start_epoch(now);
  ++barriers_;
}

void Block::check_barrier() {
  const Lane* first = nullptr;
  for (unsigned t = 0; t < threads_; ++t) {
    const Lane& lane = lanes_[t];
    if (lane.state != LaneState::at_barrier) continue;
    if (!first) first = &lane;
    // g++ may have made two call sites of one line.
    if (lane.wait_site == first->wait_site || same_line(place_of(lane.wait_site), place_of(first->wait_site))) continue;
    const Lane* const warp = &lanes_[lane.warp * warp_lanes];
    const auto elsewhere = std::find_if(warp, &lane, [&](const Lane& other) {
      return other.state == LaneState::at_barrier && !same_line(place_of(lane.wait_site), place_of(other.wait_site));
    });
    const bool diverged = elsewhere != &lane;
    const Lane& other = diverged ? *elsewhere : *first;
    const DefectKind kind = diverged ? DefectKind::divergent_barrier : DefectKind::half_block_barrier;
    if (is_news(kind, other.wait_site, lane.wait_site)) {
      report(kind, "", party(other, other.wait_site, "waits"), party(lane, lane.wait_site, "waits"));
    }
    if (diverged) break;
  }
  for (unsigned t = 0; t < threads_; ++t) {
    const Lane& lane = lanes_[t];
    if (lane.state != LaneState::ended) continue;
    const Lane* const warp = &lanes_[lane.warp * warp_lanes];
    const Lane* const end = &lanes_[0] + std::min(threads_, (lane.warp + 1) * warp_lanes);
    const auto waits = std::find_if(warp, end, [](const Lane& other) { return other.state == LaneState::at_barrier; });
    if (waits == end || !is_news(DefectKind::barrier_after_exit, waits->wait_site, 0)) continue;
    report(DefectKind::barrier_after_exit,
           fmt::format("thread ({}, {}, {}) has ended", lane.context.thread.x, lane.context.thread.y,
                       lane.context.thread.z),
           party(*waits, waits->wait_site, "waits"));
    break;
  }
}

}  // namespace simt

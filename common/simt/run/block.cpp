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
__thread Block* computing_block = nullptr;
__thread Block* inspected_block = nullptr;
__thread unsigned char basic_block_interest = 0;

namespace {

void fiber_entry() {
  running_block->run_body();
}

// A thread that reads one word over and over, or a few in turn, waits for somebody. So, perhaps, does one that goes on for
// very long.
constexpr unsigned most_read_in_turn = 4;
constexpr std::uint64_t spins_before_others = 4, full_before_others = 1024;
// So many buffers a thread fills before the others of its warp run.
constexpr unsigned full_before_switch = 16;
// So often an atomic or volatile access finds the same before others run; less often if it has come to that before.
constexpr unsigned found_before_others = 8, found_again = 2;
// So many looks at a thread find no access to memory in between, before others run.
constexpr unsigned looks_before_others = 50, looks_again = 2;

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
  const unsigned char interest = grid.sink && grid.sink->counts() ? to_count : 0;
  __atomic_store_n(&basic_block_interest, interest, __ATOMIC_RELAXED);
  computes_at_ = 0;
  looks_at_writes_ = global_.has_matrices() || (grid.sink && grid.sink->watches_writes());
  // What nobody asks for is a matter of the running lane alone: then all use one buffer, which stays in the cache.
  const bool keeps = grid.sink && (grid.sink->counts() || grid.sink->watches_requests());
  if (keeps != std::exchange(keeps_records_, keeps)) {
    for (Lane& lane : lanes_) lane.records = recorder_.records_of(keeps ? lane.lane : 0);
  }
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
  for (unsigned t = 0; t < threads_; ++t) {
    lanes_[t].stack = stacks_->bottom(t);
    lanes_[t].context = {{t % size.x, t / size.x % size.y, t / size.x / size.y}, {}, size, grid.launch.grid};
  }
}

void Block::finish_kernel(std::uint64_t& barriers, std::uint64_t& tensor_flops) {
  grid_ = nullptr;
  if (computing_block == this) computing_block = nullptr;
  barriers += barriers_;
  tensor_flops += tensor_flops_;
}

void Block::start(std::uint64_t index) {
  Grid& grid = *grid_;
  const dim3 extent = grid.launch.grid;
  const uint3 place{static_cast<unsigned>(index % extent.x), static_cast<unsigned>(index / extent.x % extent.y),
                    static_cast<unsigned>(index / extent.x / extent.y)};
  // What "was written at the start" must lie before the first epoch.
  shared_.start_block(++top_);
  const Stamp now = ++top_;
  shared_.start_epoch(now);
  forget_order(static_cast<std::uint32_t>(index + 1), now);
  shared_.set_causality(order_->causality(), standing_);

  barriers_before_ = barriers_;
  ended_before_ = 0;
  arrived_ = false;
  for (unsigned t = 0; t < threads_; ++t) {
    Lane& lane = lanes_[t];
    lane.fiber = make_fiber(stacks_->top(t), fiber_entry);
    lane.state = LaneState::ready;
    lane.context.block = place;
    lane.clock = now;
    lane.last_sync = 0;
    lane.recorded = 0;
    lane.wait_site = 0;
    lane.whole_grid = lane.has_passed = false;
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
  if (progress == Progress::ended && computing_block == this) computing_block = nullptr;
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
  if (inspected_block) {
    for (const PendingCopy& copy : current_->copies) look_for_early_reads(*current_, copy);
  }
  stop(LaneState::ended);
}

[[gnu::always_inline]] inline void Block::resume(Lane& lane) {
  lane.state = LaneState::ready;
  current_ = &lane;
  look_.times = 0;
  full_in_a_row_ = noted_again_ = 0;
  forget_noted();
  inspected_block = grid_->sink ? this : nullptr;
  switch_fiber(&scheduler_, lane.fiber);
  inspected_block = nullptr;
  KeptLock::give_if_asked();
  if (lane.state == LaneState::buffer_full) {
    check_spin(lane);
  } else {
    lane.spins = lane.full = 0;
    moved_ = true;
  }
  if (!keeps_records_) lane.recorded = 0;
}

// The others go on, so that all come forward. If nobody needs the records of all, the thread itself may go on for a while.
void Block::buffer_is_full() {
  forget_noted();
  Lane& lane = *current_;
  const auto may_go_on = [&] {
    const Unobserved unobserved;
    return !reads_the_same(lane);
  };
  if (keeps_records_ || ++full_in_a_row_ == full_before_switch || grid_->aborted || !doubtful_.empty() ||
      lane.full >= full_before_others || !may_go_on()) {
    return stop(LaneState::buffer_full);
  }
  ++lane.full;
  lane.spins = 0;
  lane.recorded = noted_again_ = 0;
  look_.times = 0;
  moved_ = true;
  KeptLock::give_if_asked();
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

// In its full buffer: the same word, or a few words in turn; or atomics, if the word did not change.
bool Block::reads_the_same(const Lane& lane) const {
  const auto* first = lane.records->addresses;
  const Tag* const tags = lane.records->tags;
  bool spins = noted_again_ == 0 && std::none_of(tags, tags + lane.recorded, tag_store) &&
               (lane.watched != *first || lane.found > 1);
  for (unsigned period = 1; spins; ++period) {
    if (std::equal(first + period, first + lane.recorded, first)) break;
    spins = period < most_read_in_turn;
  }
  return spins;
}

// Right after the lane has run, if it goes on later.
void Block::check_spin(Lane& lane) {
  if (std::exchange(lane.gave_way, false)) {
    lane.spins = std::max(lane.spins, spins_before_others) + 1;
    return;
  }
  ++lane.full;
  lane.spins = reads_the_same(lane) ? lane.spins + 1 : 0;
  if (lane.spins <= spins_before_others) {
    moved_ = true;
  } else {
    // Of the words that it reads in turn, one that the host may write.
    unsigned which = std::clamp(lane.recorded, 1u, most_read_in_turn) - 1;
    while (which > 0 && !is_hosts_too(lane.records->addresses[which])) --which;
    lane.spin_address = lane.records->addresses[which];
    lane.wait_site = tag_site(lane.records->tags[which]);
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

void Block::look_for_standstill(Site site) {
  forget_noted();
  __atomic_fetch_and(&basic_block_interest, static_cast<unsigned char>(~to_look), __ATOMIC_RELAXED);
  KeptLock::give_if_asked();
  Lane& lane = *current_;
  if (look_.recorded != lane.recorded) look_ = {lane.recorded, 0};
  if (++look_.times < (site == computes_at_ ? looks_again : looks_before_others)) return;
  computes_at_ = lane.wait_site = site;
  lane.spin_address = 0;
  lane.gave_way = true;
  computing_block = this;
  stop(LaneState::buffer_full);
}

bool Block::computes() const {
  return std::any_of(lanes_.begin(), lanes_.begin() + threads_, [&](const Lane& lane) {
    return lane.state == LaneState::buffer_full && gives_way(lane) && lane.spin_address == 0 &&
           !order_->causality().has_guessed(standing_.number, lane.thread);
  });
}

bool Block::waits_for_host() const {
  return std::any_of(lanes_.begin(), lanes_.begin() + threads_, [](const Lane& lane) {
    return lane.state == LaneState::buffer_full && gives_way(lane) && is_hosts_too(lane.spin_address);
  });
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
    if (lane->spin_address == 0) {
      return report(DefectKind::deadlock,
                    "a loop without an access to memory (a plain variable may be read once, before it)" + remark,
                    party(*lane, lane->wait_site, "is in it without end"));
    }
    report(DefectKind::deadlock, describe(lane->spin_address, lane->wait_site, "reads") + remark,
           party(*lane, lane->wait_site, "reads it again and again, and nobody changes it"));
  } else if (const auto waiting = is(LaneState::at_barrier); waiting != lanes_.begin() + threads_) {
    report(DefectKind::deadlock, "the barrier of the grid" + remark,
           party(*waiting, waiting->wait_site, "waits at it"));
  }
}

}  // namespace simt

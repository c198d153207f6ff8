// Of a block: the barriers of all its threads, of tiles, and of the grid.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/run/block.hpp"

namespace simt {

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
  if (grid_->sink) {
    check_barrier();
    check_ended();
  }
  open_barrier([](const Lane&) { return true; });
  for (unsigned t = 0; t < threads_; ++t) lanes_[t].has_passed |= lanes_[t].state == LaneState::ready;
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
}

// GPUs since Volta do not wait for threads that have ended. So a barrier is in order if these have nothing to do with it:
// if they have come to none before, and have left nothing in shared memory that it would have to order.
void Block::check_ended() {
  const auto has_ended = [&](unsigned thread) { return lanes_[thread].state == LaneState::ended; };
  unsigned ended = 0;
  const Lane *waits = nullptr, *left = nullptr;
  for (unsigned t = 0; t < threads_; ++t) {
    const Lane& lane = lanes_[t];
    ended += has_ended(t);
    if (!waits && lane.state == LaneState::at_barrier) waits = &lane;
    if (!left && has_ended(t) && lane.has_passed) left = &lane;
  }
  if (std::exchange(ended_before_, ended) == ended) return;
  // Threads whose barriers differ end apart: that they differ has been told.
  for (const DefectKind kind : {DefectKind::divergent_barrier, DefectKind::half_block_barrier}) {
    const auto told = reported_.lower_bound({kind, 0, 0});
    if (told != reported_.end() && std::get<DefectKind>(*told) == kind) return;
  }
  const auto tell = [&](const Lane& lane, Site site, const char* what) {
    if (is_news(DefectKind::divergent_barrier, waits->wait_site, site))
      report(DefectKind::divergent_barrier, "", party(*waits, waits->wait_site, "waits"), party(lane, site, what));
  };
  if (left) return tell(*left, left->wait_site, "has ended after it waited");
  if (const auto write = shared_.write_since_barrier(has_ended))
    return tell(lanes_[write->thread], write->site, "has ended after it wrote shared memory");
  for (unsigned t = 0; t < threads_; ++t) {
    if (!has_ended(t)) continue;
    const Lane& lane = lanes_[t];
    const auto warp = lanes_.begin() + lane.warp * warp_lanes;
    const auto end = lanes_.begin() + std::min(threads_, (lane.warp + 1) * warp_lanes);
    const auto other = std::find_if(warp, end, [](const Lane& each) { return each.state == LaneState::at_barrier; });
    if (other == end || !is_news(DefectKind::barrier_after_exit, other->wait_site, 0)) continue;
    report(DefectKind::barrier_after_exit,
           fmt::format("thread ({}, {}, {}) has ended", lane.context.thread.x, lane.context.thread.y,
                       lane.context.thread.z),
           party(*other, other->wait_site, "waits"));
    break;
  }
}

}  // namespace simt

// Of a block: what the lanes of a warp do together.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/run/block.hpp"

namespace simt {

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

}  // namespace simt

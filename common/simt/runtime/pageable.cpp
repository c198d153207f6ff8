#include "common/simt/runtime/pageable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "common/simt/observe/onlookers.hpp"
#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/mode.hpp"

namespace simt {
namespace {

struct PageableUse {
  PageableBox box;
  WorkPointer work;
};
std::vector<PageableUse>& pageable_uses() {
  static auto& all = *new std::vector<PageableUse>;
  return all;
}

// Where those are, for a glance without the lock. More than a few: anywhere between the first and the last.
struct PageableGlance {
  std::atomic<std::size_t> count = 0;
  std::array<std::atomic<std::uintptr_t>, 16> begin{}, end{};
};
PageableGlance pageable_glance;

bool comes_before(const WorkClock& clock, unsigned stream, std::uint32_t id) {
  return stream < clock.size() && clock[stream] >= id;
}

// What the host has waited for, nobody can meet any longer.
void forget_pageable_uses() {
  auto& all = pageable_uses();
  std::erase_if(all,
                [](const PageableUse& each) { return comes_before(host_clock(), each.work->stream, each.work->id); });
  for (std::size_t i = 0; i < std::min(all.size(), pageable_glance.begin.size()); ++i) {
    pageable_glance.begin[i] = all[i].box.begin;
    pageable_glance.end[i] = all[i].box.end();
  }
  pageable_glance.count = all.size();
  HostWatch::Range& watched = host_watch.ranges[HostWatch::pageable];
  watched = {};
  if (all.empty()) return;
  const auto begin = std::ranges::min(all, {}, [](const PageableUse& each) { return each.box.begin; }).box.begin;
  const auto end = std::ranges::max(all, {}, [](const PageableUse& each) { return each.box.end(); }).box.end();
  watched = {begin, end - begin};
}

std::string place_in(const PageableBox& box, std::uintptr_t address) {
  return fmt::format("byte {} of pageable memory that a graph copies", address - box.begin);
}

Party party_of(const PageableUse& use) {
  return {true,
          {},
          {},
          reinterpret_cast<std::uintptr_t>(use.work->pc),
          use.box.is_written ? "writes it" : "reads it",
          use.work->who};
}

}  // namespace

bool PageableBox::holds(std::uintptr_t address) const {
  if (address < begin || address >= end()) return false;
  const std::size_t in_slice = depth > 1 ? (address - begin) % slice : address - begin;
  return in_slice < (height - 1) * pitch + width && (height == 1 || in_slice % pitch < width);
}

bool may_be_in_pageable_use(std::uintptr_t address, std::size_t bytes) {
  const std::size_t count = pageable_glance.count;
  if (count > pageable_glance.begin.size()) return true;
  for (std::size_t i = 0; i < count; ++i) {
    if (address < pageable_glance.end[i] && address + bytes > pageable_glance.begin[i]) return true;
  }
  return false;
}

void meet_pageable_uses(const PageableBox& box, const WorkPointer& work) {
  for (const PageableUse& each : pageable_uses()) {
    const bool meets = each.box.holds(box.begin) || box.holds(each.box.begin);
    if (!meets || (!box.is_written && !each.box.is_written)) continue;
    if (comes_before(work->before, each.work->stream, each.work->id)) continue;
    report_of_host(DefectKind::stream_race, place_in(each.box, std::max(box.begin, each.box.begin)),
                   party_of({box, work}), party_of(each));
  }
}

void begin_pageable_use(const PageableBox& box, const WorkPointer& work) {
  if (!runs_program()) return;
  meet_pageable_uses(box, work);
  pageable_uses().push_back({box, work});
  forget_pageable_uses();
}

void host_uses_pageable(std::uintptr_t address, std::size_t bytes, Use use, const void* pc) {
  forget_pageable_uses();
  const Work* const me = work_under_way();  // a function of the host
  auto& all = pageable_uses();
  const auto at = std::ranges::find_if(all, [&](const PageableUse& each) {
    if (!each.box.holds(address) && !each.box.holds(address + bytes - 1)) return false;
    if (is_read(use) && !each.box.is_written) return false;
    return !me || (!comes_before(me->before, each.work->stream, each.work->id) &&
                   !comes_before(each.work->before, me->stream, me->id));
  });
  if (at == all.end()) return;
  const char* const who = me ? me->who.c_str() : "the host";
  report_of_host(DefectKind::not_waited, place_in(at->box, std::max(at->box.begin, address)),
                 {true, {}, {}, reinterpret_cast<std::uintptr_t>(pc), is_read(use) ? "reads it" : "writes it", who},
                 party_of(*at));
  all.erase(at);  // once is enough
  forget_pageable_uses();
}

}  // namespace simt

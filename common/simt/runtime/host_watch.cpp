#include "common/simt/runtime/host_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "common/simt/code/symbols.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/observe/onlookers.hpp"
#include "common/simt/runtime/pageable.hpp"
#include "common/simt/runtime/pieces.hpp"
#include "common/simt/runtime/sections.hpp"
#include "common/simt/runtime/starter.hpp"
#include "common/simt/runtime/stream_order.hpp"

namespace simt {

namespace {

// The range of pinned or managed memory that this thread has used last, for loops over it.
__thread unsigned known_generation = 0;
__thread std::uintptr_t known_begin = 0;
__thread std::size_t known_bytes = 0;

}  // namespace

namespace {

bool is_pageable_only(std::uintptr_t address) {
  const auto* const ranges = host_watch.ranges;
  return std::none_of(ranges, ranges + HostWatch::pageable, [=](const auto& range) { return range.holds(address); });
}

void touch(std::uintptr_t address, std::size_t bytes, Use use, const void* pc) {
  if (is_inside_runtime()) return;
  if (is_pageable_only(address)) {
    if (!may_be_in_pageable_use(address)) return;
    // Who is in the runtime now may wait for this thread, which is not the host's but runs kernels.
    std::unique_lock lock(runtime_mutex(), std::try_to_lock);
    if (!lock) return;
    const Inside inside(std::move(lock));
    return host_uses_pageable(address, bytes, use, pc);
  }
  const bool is_known = known_generation == times_freed() && address - known_begin < known_bytes;
  if (is_known && !is_host_behind()) return;
  auto lock = lock_for_access(address, use);
  if (!lock) return;
  const Inside inside(std::move(lock));
  const auto by_host = [&] { return host_at(pc, fmt::format("{} {} bytes", verb_of(use), bytes)); };
  StreamOrder* const order = is_host_behind() ? StreamOrder::active() : nullptr;
  if (is_managed_section(address)) {
    if (order) order->by_host(address, bytes, use, pc);
    return;
  }
  if (!host_watch.ranges[0].holds(address)) {
    return report_of_host(DefectKind::host_access, "the variable " + object_at(address), by_host());
  }
  const Piece* const piece = piece_at(address);
  if (piece && !piece->freed.name && (piece->home == Home::pinned || piece->home == Home::managed)) {
    known_begin = piece->begin;
    known_bytes = piece->bytes;
    known_generation = times_freed();
    if (order) order->by_host(address, bytes, use, pc);
    return;
  }
  std::string where;
  const Piece* freed = nullptr;
  Party other;
  if (is_whole(address, bytes, where, &freed)) {
    where = GlobalMemory::instance().describe(address);
  } else if (freed) {
    other = calling(freed->freed);
  }
  report_of_host(DefectKind::host_access, where, by_host(), other);
  // A GPU's program ends here; this one can go on if there is anything to read.
  if (!GlobalMemory::instance().allocated(address, bytes)) std::exit(1);
}

void release(std::uintptr_t address, const char* how, const void* pc) {
  auto lock = lock_for_access(address, Use::write);
  if (!lock) return;
  const Inside inside(std::move(lock));
  report_of_host(DefectKind::bad_free, GlobalMemory::instance().describe(address) + ", which only the runtime can free",
                 host_at(pc, how));
}

}  // namespace

void watch_host(bool on) {
  host_watch = {};
  host_touches = nullptr;
  host_releases = nullptr;
  is_registered = nullptr;
  if (!on) return;
  host_touches = touch;
  host_releases = release;
  is_registered = [](std::uintptr_t address) { return home_of(address) == Home::registered; };
  GlobalMemory& memory = GlobalMemory::instance();
  memory.start_launch();  // so that variables have their words before there is a kernel
  host_watch.ranges[0] = {memory.begin(), memory.bytes()};
  host_watch.ranges[1] = device_section();
  host_watch.ranges[2] = constant_section();
  host_watch.ranges[3] = managed_section();
  if (host_watch.ranges[3].bytes > 0) StreamOrder::enable();
}

}  // namespace simt

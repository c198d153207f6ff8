#include "common/simt/runtime/host_watch.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>

#include "common/simt/code/symbols.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/runtime/pieces.hpp"
#include "common/simt/runtime/stream_order.hpp"

// The linker's names for the ends of a section; null if nothing is in it.
#define SIMT_SECTION(name)                           \
  extern "C" [[gnu::weak]] char __start_simt_##name; \
  extern "C" [[gnu::weak]] char __stop_simt_##name;
SIMT_SECTION(device)
SIMT_SECTION(managed)
SIMT_SECTION(constant)
#undef SIMT_SECTION

namespace simt {

HostWatch host_watch;

namespace {

HostWatch::Range between(const char& begin, const char& end) {
  const auto first = reinterpret_cast<std::uintptr_t>(&begin);
  return {first, reinterpret_cast<std::uintptr_t>(&end) - first};
}
bool is_in(const HostWatch::Range& range, std::uintptr_t address) {
  return address - range.begin < range.bytes;
}

// The range of pinned or managed memory that this thread has used last, for loops over it.
std::atomic<unsigned> generation{1};
__thread unsigned known_generation = 0;
__thread std::uintptr_t known_begin = 0;
__thread std::size_t known_bytes = 0;

}  // namespace

void watch_host(bool on) {
  host_watch = {};
  if (!on) return;
  GlobalMemory& memory = GlobalMemory::instance();
  memory.start_launch();  // so that variables have their words before there is a kernel
  host_watch.ranges[0] = {memory.begin(), memory.bytes()};
  host_watch.ranges[1] = between(__start_simt_device, __stop_simt_device);
  host_watch.ranges[2] = between(__start_simt_constant, __stop_simt_constant);
  host_watch.ranges[3] = between(__start_simt_managed, __stop_simt_managed);
  if (host_watch.ranges[3].bytes > 0) StreamOrder::enable();
}

bool is_managed_section(std::uintptr_t address) {
  return is_in(between(__start_simt_managed, __stop_simt_managed), address);
}
bool is_device_section(std::uintptr_t address) {
  return is_in(between(__start_simt_device, __stop_simt_device), address) || is_managed_section(address) ||
         is_in(between(__start_simt_constant, __stop_simt_constant), address);
}

void forget_host_range() {
  ++generation;
}

void host_touches(std::uintptr_t address, std::size_t bytes, Use use, const void* pc) {
  if (is_inside_runtime()) return;
  const bool is_known = known_generation == generation && address - known_begin < known_bytes;
  if (is_known && queued() == 0) return;
  const Entered entered({"an access", pc});
  const auto by_host = [&] { return host_at(pc, fmt::format("{} {} bytes", verb_of(use), bytes)); };
  StreamOrder* const order = queued() > 0 ? StreamOrder::active() : nullptr;
  if (is_managed_section(address)) {
    if (order) order->by_host(address, bytes, use, pc);
    return;
  }
  if (!is_in(host_watch.ranges[0], address)) {
    return report_of_host(DefectKind::host_access, "the variable " + object_at(address), by_host());
  }
  const Piece* const piece = piece_at(address);
  if (piece && !piece->freed.name && (piece->home == Home::pinned || piece->home == Home::managed)) {
    known_begin = piece->begin;
    known_bytes = piece->bytes;
    known_generation = generation;
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

}  // namespace simt

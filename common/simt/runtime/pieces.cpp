#include "common/simt/runtime/pieces.hpp"

#include <fmt/format.h>

#include <atomic>
#include <iterator>
#include <map>

#include "common/simt/observe/global_memory.hpp"
#include "common/simt/runtime/mode.hpp"
#include "common/simt/runtime/sections.hpp"
#include "common/simt/runtime/stream_order.hpp"

namespace simt {
namespace {

// By where they begin. No address of device memory is used twice.
std::map<std::uintptr_t, Piece>& pieces() {
  static auto& all = *new std::map<std::uintptr_t, Piece>;
  return all;
}
std::size_t in_use = 0;
std::atomic<unsigned> freed_so_far{1};

bool is_for_host(Home home) {
  return home == Home::pinned || home == Home::managed;
}

const char* name_of(Home home) {
  switch (home) {
    case Home::pageable:
      return "host memory";
    case Home::registered:
      return "registered host memory";
    case Home::pinned:
      return "pinned host memory";
    case Home::managed:
      return "managed memory";
    case Home::symbol:
      return "a variable";
    case Home::device:
      break;
  }
  return "device memory";
}

}  // namespace

void* add_piece(std::size_t bytes, Home home, const Call& call) {
  GlobalMemory& memory = GlobalMemory::instance();
  void* const pointer = memory.allocate(bytes);
  if (!pointer) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  if (is_for_host(home)) {
    // What the host writes there not all of its code tells, so all of it counts as written.
    memory.mark_written(begin, bytes);
    memory.share_with_host(begin);
    if (runs_program()) StreamOrder::enable();
  }
  if (runs_program()) {
    pieces()[begin] = {begin, bytes, home, call, {}};
    in_use += bytes;
  }
  return pointer;
}

void add_registered(void* pointer, std::size_t bytes, const Call& call) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  pieces()[begin] = {begin, bytes, Home::registered, call, {}};
}

const Piece* piece_at(std::uintptr_t address) {
  const auto after = pieces().upper_bound(address);
  if (after == pieces().begin()) return nullptr;
  const Piece& piece = std::prev(after)->second;
  return address - piece.begin < piece.bytes ? &piece : nullptr;
}

cudaError_t remove_piece(void* pointer, Home home, const Call& call) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const auto at = pieces().find(begin);
  const bool fits = at != pieces().end() && !at->second.freed.name &&
                    (at->second.home == home || (home == Home::device && at->second.home == Home::managed));
  if (fits) {
    if (at->second.home == Home::registered) {
      pieces().erase(at);
      return cudaSuccess;
    }
    at->second.freed = call;
    in_use -= at->second.bytes;
    ++freed_so_far;
    GlobalMemory::instance().release(pointer);
    return cudaSuccess;
  }
  if (at == pieces().end() && home == Home::device && GlobalMemory::instance().release(pointer)) return cudaSuccess;
  if (runs_program()) {
    const Piece* const piece = piece_at(begin);
    std::string what = "host memory that the runtime has not allocated";
    Party other;
    if (piece && piece->freed.name) {
      what = fmt::format("{} of {} bytes, freed before", name_of(piece->home), piece->bytes);
      other = calling(piece->freed);
    } else if (piece && piece->begin != begin) {
      what = fmt::format("byte {} of {} bytes of {}", begin - piece->begin, piece->bytes, name_of(piece->home));
      other = host_at(piece->made.pc, "allocates it");
    } else if (piece) {
      what = name_of(piece->home);
      other = host_at(piece->made.pc, "allocates it");
    } else if (GlobalMemory::instance().contains(begin)) {
      what = GlobalMemory::instance().describe(begin);
    }
    report_of_host(DefectKind::bad_free, what, calling(call), other);
  }
  return cudaErrorInvalidValue;
}

void give_to_graph(void* pointer, const Call& call) {
  pieces().at(reinterpret_cast<std::uintptr_t>(pointer)).of_graph = true;
  remove_piece(pointer, Home::device, call);
}
cudaError_t renew_piece(void* pointer, const Call& call) {
  Piece& piece = pieces().at(reinterpret_cast<std::uintptr_t>(pointer));
  if (!piece.freed.name) remove_piece(pointer, piece.home, call);
  if (!GlobalMemory::instance().allocate_again(pointer)) return cudaErrorMemoryAllocation;
  piece.made = call;
  piece.freed = {};
  in_use += piece.bytes;
  return cudaSuccess;
}

Home home_of(std::uintptr_t address) {
  if (const Piece* const piece = piece_at(address)) return piece->home;
  if (GlobalMemory::instance().contains(address)) return Home::device;
  if (is_managed_section(address)) return Home::managed;
  return is_device_section(address) ? Home::symbol : Home::pageable;
}

bool is_whole(std::uintptr_t address, std::size_t bytes, std::string& why, const Piece** freed) {
  const GlobalMemory& memory = GlobalMemory::instance();
  if (!memory.contains(address) || memory.allocated(address, bytes)) return true;
  const Piece* const piece = piece_at(address);
  if (piece && piece->freed.name) {
    why = fmt::format("{} of {} bytes, which is freed", name_of(piece->home), piece->bytes);
    *freed = piece;
  } else if (piece) {
    why = fmt::format("{} bytes from byte {} on of {} bytes of {}", bytes, address - piece->begin, piece->bytes,
                      name_of(piece->home));
  } else {
    why = memory.describe(address);
  }
  return false;
}

unsigned times_freed() {
  return freed_so_far;
}

std::size_t bytes_in_use() {
  return in_use;
}

void report_leaks() {
  for (const auto& [begin, piece] : pieces()) {
    if (piece.freed.name || piece.home == Home::registered) continue;
    report_of_host(DefectKind::leak, fmt::format("{} bytes of {}", piece.bytes, name_of(piece.home)),
                   host_at(piece.made.pc, "allocates them"));
  }
}

}  // namespace simt

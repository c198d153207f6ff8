#include "common/simt/observe/shared_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simt/code/dynamic_names.hpp"
#include "common/simt/code/symbols.hpp"

// Dynamic shared memory. A kernel declares it: extern __shared__ float smem[]; of any type. Under another name, or in a
// namespace or a function, the declaration is rewritten to name this array (common/cmake/textbook.py).
extern "C" {
alignas(1024) thread_local unsigned char simt_dynamic[simt::max_dynamic_shared];
// Weak: a program may call an array of its own so.
extern thread_local unsigned char smem[simt::max_dynamic_shared] __attribute__((weak, alias("simt_dynamic")));
}

// A variable whose place in the thread-local segment is known both at run time (its address) and from the symbol table
// (its offset): the difference locates all others.
extern "C" {
thread_local char simt_tls_anchor = 0;
}

namespace simt {
namespace {

// To g++ the anchor is an object of one byte, and with _FORTIFY_SOURCE, Ubuntu's default, it would end the program for
// writing elsewhere relative to it. The empty assembly makes it forget where the pointer comes from.
std::uintptr_t anchor() {
  char* here = &simt_tls_anchor;
  asm("" : "+r"(here));
  return reinterpret_cast<std::uintptr_t>(here);
}

std::uintptr_t dynamic_begin() {
  return reinterpret_cast<std::uintptr_t>(simt_dynamic);
}

// Whether what `other` did at `stamp` comes before what this lane does now, by a __syncwarp() that both took part in.
bool ordered_within_warp(const Lane& lane, unsigned other_lane, Stamp stamp) {
  return lane.seen[other_lane] >= stamp;
}

// Far above what lies below the anchor, and a multiple of a row of banks, as is the dynamic array's alignment.
constexpr std::uint64_t place_of_dynamic = std::uint64_t{1} << 40;

}  // namespace

std::uint64_t shared_place(std::uintptr_t address) {
  return address - dynamic_begin() + place_of_dynamic;
}

std::vector<SharedObject> shared_objects(const void* kernel, std::size_t dynamic_bytes) {
  std::vector<SharedObject> objects;
  for (const SharedVariable& variable : shared_variables_of(kernel))
    objects.push_back({variable.name, shared_place(anchor() + variable.from_anchor), variable.bytes});
  if (dynamic_bytes > 0) objects.push_back({"", place_of_dynamic, dynamic_bytes});
  std::ranges::sort(objects, {}, &SharedObject::place);
  return objects;
}

SharedMemory::SharedMemory() {
  // The region that holds every __shared__ variable of the program and the dynamic array.
  std::uintptr_t low = dynamic_begin(), high = low + max_dynamic_shared;
  for (const SharedVariable& variable : shared_variables_of(nullptr)) {
    low = std::min(low, anchor() + variable.from_anchor);
    high = std::max(high, anchor() + variable.from_anchor + variable.bytes);
  }
  begin_ = low / 16 * 16;
  bytes_ = high - begin_;
}

void SharedMemory::start_kernel(const void* kernel, std::size_t dynamic_bytes) {
  if (kernel == kernel_ && dynamic_bytes == dynamic_bytes_) return;
  static_bytes_ = 0;
  if (words_.empty()) {
    words_.assign(bytes_ / 4 + 4, Entry{.flags = flag_forbidden});  // an access of 16 bytes may begin in the last word
    word_sites_.resize(words_.size());
  } else {
    // Only what the last kernel had: a program has megabytes of shared variables in all.
    mark_own(flag_forbidden);
  }
  kernel_ = kernel;
  dynamic_bytes_ = dynamic_bytes;
  mark_own(0);
  for (const SharedVariable& variable : shared_variables_of(kernel)) {
    if (variable.owner_is_kernel) static_bytes_ += variable.bytes;
  }
}

template <class Do>
void SharedMemory::for_each_own(Do act) const {
  for (const SharedVariable& variable : shared_variables_of(kernel_))
    act(anchor() + variable.from_anchor, variable.bytes);
  if (dynamic_bytes_ > 0) act(dynamic_begin(), dynamic_bytes_);
}

void SharedMemory::mark_own(std::uint8_t flags) {
  for_each_own([&](std::uintptr_t begin, std::size_t bytes) {
    for (std::uintptr_t at = begin / 4 * 4; at < begin + bytes; at += 4)
      words_[(at - begin_) / 4] = Entry{.flags = flags};
  });
}

void SharedMemory::save(Kept& kept) const {
  kept = {};
  kept.block = block_;
  kept.epoch = epoch_;
  const auto append = [](auto& to, const auto& from, std::size_t first, std::size_t end) {
    if (!from.empty()) to.insert(to.end(), from.begin() + first, from.begin() + end);
  };
  for_each_own([&](std::uintptr_t begin, std::size_t bytes) {
    const auto* const first = reinterpret_cast<const std::byte*>(begin);
    kept.bytes.insert(kept.bytes.end(), first, first + bytes);
    const std::size_t word = (begin - begin_) / 4, end = (begin + bytes - begin_ + 3) / 4;
    append(kept.words, words_, word, end);
    append(kept.word_sites, word_sites_, word, end);
    append(kept.bytes_of_words, bytes_of_words_, word * 4, end * 4);
    append(kept.byte_sites, byte_sites_, word * 4, end * 4);
  });
}

void SharedMemory::restore(const Kept& kept) {
  block_ = kept.block;
  epoch_ = kept.epoch;
  std::size_t byte = 0, word = 0;
  for_each_own([&](std::uintptr_t begin, std::size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(begin), kept.bytes.data() + byte, bytes);
    const std::size_t first = (begin - begin_) / 4, count = (begin + bytes - begin_ + 3) / 4 - first;
    std::copy_n(kept.words.begin() + word, count, words_.begin() + first);
    std::copy_n(kept.word_sites.begin() + word, count, word_sites_.begin() + first);
    if (!kept.bytes_of_words.empty()) {
      std::copy_n(kept.bytes_of_words.begin() + word * 4, count * 4, bytes_of_words_.begin() + first * 4);
      std::copy_n(kept.byte_sites.begin() + word * 4, count * 4, byte_sites_.begin() + first * 4);
    }
    byte += bytes;
    word += count;
  });
}

void SharedMemory::start_block(Stamp now) {
  constexpr int nan_byte = 0xff;  // 0xffffffff is a NaN, as is a double of eight such bytes
  for_each_own(
      [](std::uintptr_t begin, std::size_t bytes) { std::memset(reinterpret_cast<void*>(begin), nan_byte, bytes); });
  block_ = epoch_ = now;
}

bool SharedMemory::ordered_by_fences(unsigned thread, Stamp stamp, const Lane& lane) const {
  return standing_->ordering &&
         causality_->order(standing_->number, thread, stamp, lane, *standing_, true) == Order::before;
}

bool SharedMemory::write_is_ordered(const Entry& entry, const Sites& sites, const Lane& lane) const {
  if (entry.writer == lane.thread) return true;
  const bool several = entry.writer & many_lanes;
  // Which lanes of the warp have updated it is not known: any __syncwarp() since then will do.
  if (several && entry.writer == (many_lanes | lane.warp) && lane.last_sync >= entry.written) return true;
  if (!several && entry.writer / warp_lanes == lane.warp &&
      ordered_within_warp(lane, entry.writer % warp_lanes, entry.written)) {
    return true;
  }
  return ordered_by_fences(sites.writer, entry.written, lane) &&
         (!several || ordered_by_fences(sites.other_writer, epoch_, lane));
}

bool SharedMemory::reads_are_ordered_by_fences(const Entry& entry, const Sites& sites, const Lane& lane) const {
  if (!standing_->ordering) return false;
  if (entry.reader_warp == many_warps) return ordered_by_fences(sites.reader, epoch_, lane);
  const bool one = std::has_single_bit(entry.read_lanes);
  for (LaneMask rest = entry.read_lanes; rest; rest &= rest - 1) {
    const unsigned other = entry.reader_warp * warp_lanes + static_cast<unsigned>(std::countr_zero(rest));
    // Of several readers only the latest stamp is known: it may be too late for the others, hence the epoch's.
    if (!ordered_by_fences(other, one ? entry.read : epoch_, lane)) return false;
  }
  return true;
}

// Whether all reads on record come before what this lane does now. If not, and the culprit can be told better than by
// who read first, `culprit` becomes its number.
bool SharedMemory::reads_are_ordered(const Entry& entry, const Lane& lane, unsigned& culprit) {
  if (entry.reader_warp != lane.warp) return false;
  for (LaneMask rest = entry.read_lanes & ~(LaneMask{1} << lane.lane); rest; rest &= rest - 1) {
    const auto other = static_cast<unsigned>(std::countr_zero(rest));
    if (ordered_within_warp(lane, other, entry.read)) continue;
    culprit = lane.warp * warp_lanes + other;
    return false;
  }
  return true;
}

std::optional<SharedMemory::Conflict> SharedMemory::touch(Entry& entry, Sites& sites, const Lane& lane, Use use,
                                                          Site site, bool announced) {
  if (entry.flags & flag_forbidden) return Conflict{DefectKind::out_of_bounds};
  std::optional<Conflict> conflict;

  // A write before: someone else's, in this epoch, and not ordered by a warp's synchronisation?
  if (entry.written >= epoch_) {
    const bool both_atomic = is_atomic(use) && entry.flags & flag_atomic;
    if (!both_atomic && !write_is_ordered(entry, sites, lane)) {
      conflict = Conflict{DefectKind::shared_race, sites.writer != lane.thread ? sites.writer : sites.other_writer,
                          sites.written, true};
    }
  } else if (entry.written < block_ && (is_read(use) || is_atomic(use)) && !announced) {
    conflict = Conflict{DefectKind::uninitialised_shared};
    entry.written = block_;  // once is enough
    entry.flags &= static_cast<std::uint8_t>(~flag_atomic);
    entry.writer = sites.writer = static_cast<std::uint16_t>(lane.thread);
    sites.written = site;
  }

  const LaneMask me = LaneMask{1} << lane.lane;
  unsigned culprit = sites.reader;
  const bool stored = entry.flags & flag_stored;
  if (is_read(use)) {
    if (stored) entry.read = 0;
    entry.flags &= static_cast<std::uint8_t>(~flag_stored);
    // Earlier reads that come before this one need not be kept: what comes after this one comes after them.
    if (entry.read < epoch_ || (entry.read != lane.clock && reads_are_ordered(entry, lane, culprit))) {
      entry.read_lanes = me;
      entry.reader_warp = static_cast<std::uint8_t>(lane.warp);
      entry.read = lane.clock;
      sites.read = site;
      sites.reader = static_cast<std::uint16_t>(lane.thread);
    } else if (entry.reader_warp == lane.warp) {
      entry.read_lanes |= me;
      entry.read = std::max(entry.read, lane.clock);
    } else {
      entry.reader_warp = many_warps;
      entry.read = std::max(entry.read, lane.clock);
    }
    return conflict;
  }

  // A write after reads in this epoch, by others?
  if (entry.read >= epoch_ && !conflict && !reads_are_ordered(entry, lane, culprit) &&
      !reads_are_ordered_by_fences(entry, sites, lane)) {
    conflict = Conflict{DefectKind::shared_race, culprit, sites.read, stored};
  }
  if (announced) {
    entry.read = 0;  // as far as they go, judged: what is on record when the write comes was in between
    return conflict;
  }
  const bool joins_atomics =
      is_atomic(use) && entry.written >= epoch_ && entry.flags & flag_atomic && entry.writer != lane.thread;
  if (!joins_atomics) {
    entry.writer = static_cast<std::uint16_t>(lane.thread);
  } else {
    const bool same_warp =
        entry.writer < many_lanes ? entry.writer / warp_lanes == lane.warp : entry.writer == (many_lanes | lane.warp);
    entry.writer = same_warp ? static_cast<std::uint16_t>(many_lanes | lane.warp) : many_warps_write;
    if (sites.writer != lane.thread) sites.other_writer = sites.writer;
  }
  if (is_atomic(use) && !(entry.flags & flag_atomic) && entry.written >= epoch_ && !conflict) {
    // The next update must come after this plain write as well.
    entry.read_lanes = LaneMask{1} << sites.writer % warp_lanes;
    entry.reader_warp = static_cast<std::uint8_t>(sites.writer / warp_lanes);
    entry.read = entry.written;
    entry.flags |= flag_stored;
    sites.read = sites.written;
    sites.reader = sites.writer;
  } else if (!is_atomic(use) || !stored) {
    // What comes after this write comes after the reads before it.
    entry.read = 0;
    entry.flags &= static_cast<std::uint8_t>(~flag_stored);
  }
  entry.written = lane.clock;
  entry.flags = static_cast<std::uint8_t>((entry.flags & ~flag_atomic) | (is_atomic(use) ? flag_atomic : 0));
  sites.written = site;
  sites.writer = static_cast<std::uint16_t>(lane.thread);
  return conflict;
}

std::optional<SharedMemory::Conflict> SharedMemory::access_bytes(const Lane& lane, std::size_t offset, unsigned bytes,
                                                                 Use use, Site site, bool announced) {
  if (bytes_of_words_.empty()) {
    bytes_of_words_.resize(words_.size() * 4);
    byte_sites_.resize(words_.size() * 4);
  }
  std::optional<Conflict> conflict;
  for (std::size_t at = offset; at < offset + bytes; ++at) {
    Entry& word = words_[at / 4];
    if (!(word.flags & flag_split)) {
      for (std::size_t b = at / 4 * 4; b < at / 4 * 4 + 4; ++b) {
        bytes_of_words_[b] = word;
        byte_sites_[b] = word_sites_[at / 4];
      }
      word.flags |= flag_split;
    }
    const auto found = touch(bytes_of_words_[at], byte_sites_[at], lane, use, site, announced);
    if (found && !conflict) conflict = found;
  }
  return conflict;
}

std::optional<SharedMemory::Conflict> SharedMemory::visit(const Lane& lane, std::uintptr_t address, unsigned bytes,
                                                          Use use, Site site, bool announced) {
  const std::size_t offset = address - begin_;
  if (bytes < 4) return access_bytes(lane, offset, bytes, use, site, announced);
  std::optional<Conflict> conflict;
  for (std::size_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    if (word >= words_.size()) return Conflict{DefectKind::out_of_bounds};
    const auto found = words_[word].flags & flag_split
                           ? access_bytes(lane, word * 4, 4, use, site, announced)
                           : touch(words_[word], word_sites_[word], lane, use, site, announced);
    if (found && !conflict) conflict = found;
  }
  return conflict;
}

std::optional<SharedMemory::Conflict> SharedMemory::access(const Lane& lane, std::uintptr_t address, unsigned bytes,
                                                           Use use, Site site) {
  return visit(lane, address, bytes, use, site, false);
}

std::optional<SharedMemory::Conflict> SharedMemory::announce_write(const Lane& lane, std::uintptr_t address,
                                                                   unsigned bytes, Site site) {
  return visit(lane, address, bytes, Use::write, site, true);
}

std::optional<SharedMemory::Conflict> SharedMemory::read_since_announced(std::uintptr_t address,
                                                                         std::size_t bytes) const {
  for (std::size_t at = address - begin_; at < address + bytes - begin_; ++at) {
    const bool split = words_[at / 4].flags & flag_split;
    const Sites& sites = split ? byte_sites_[at] : word_sites_[at / 4];
    if ((split ? bytes_of_words_[at] : words_[at / 4]).read > 0)
      return Conflict{DefectKind::shared_race, sites.reader, sites.read, false};
  }
  return std::nullopt;
}

std::optional<SharedMemory::Write> SharedMemory::write_since_barrier(
    const std::function<bool(unsigned thread)>& is_meant) const {
  std::optional<Write> found;
  const auto look = [&](const Entry& entry, const Sites& sites) {
    if (!found && entry.written >= epoch_ && is_meant(sites.writer)) found = Write{sites.writer, sites.written};
  };
  for_each_own([&](std::uintptr_t begin, std::size_t bytes) {
    for (std::size_t word = (begin - begin_) / 4; word < (begin + bytes - begin_ + 3) / 4; ++word) {
      if (!(words_[word].flags & flag_split)) {
        look(words_[word], word_sites_[word]);
        continue;
      }
      for (std::size_t byte = word * 4; byte < word * 4 + 4; ++byte) look(bytes_of_words_[byte], byte_sites_[byte]);
    }
  });
  return found;
}

std::string SharedMemory::describe(std::uintptr_t address, Site site, std::string_view verb) const {
  const auto place_in = [&](std::string_view name, std::uintptr_t begin, std::size_t bytes) {
    const std::size_t offset = address - begin;
    if (offset < bytes) return fmt::format("byte {} of {} ({} bytes)", offset, name, bytes);
    return fmt::format("{} bytes past the end of {} ({} bytes)", offset - bytes, name, bytes);
  };
  constexpr const char* nothing_asked_for = "the launch asks for 0 bytes of dynamic shared memory";
  const auto& variables = shared_variables_of(kernel_);
  const bool in_dynamic = address >= dynamic_begin() && address < dynamic_begin() + max_dynamic_shared;
  std::string remark;
  if (in_dynamic) {
    std::string name = dynamic_name(place_of(site), kernel_);
    const bool is_known = !name.empty();
    if (!is_known) name = "smem";  // a file that calls it so is not rewritten
    if (dynamic_bytes_ > 0) return place_in(name, dynamic_begin(), dynamic_bytes_);
    // A pointer may have come here from the end of a static array, too.
    if (is_known || std::ranges::none_of(variables, &SharedVariable::owner_is_kernel)) {
      return fmt::format("{}: the kernel {} byte {} of {}", nothing_asked_for, verb, address - dynamic_begin(), name);
    }
    remark = fmt::format("; {}", nothing_asked_for);
  }
  // The variable it lies in, else the nearest one that ends before it.
  const SharedVariable* nearest = nullptr;
  for (const SharedVariable& variable : variables) {
    if (anchor() + variable.from_anchor > address) continue;
    if (!nearest || variable.from_anchor >= nearest->from_anchor) nearest = &variable;
  }
  if (!nearest) return "shared memory that is not this kernel's" + remark;
  return place_in(nearest->name, anchor() + nearest->from_anchor, nearest->bytes) + remark;
}

}  // namespace simt

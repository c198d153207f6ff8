#include "common/simt/observe/global_order.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace simt {
namespace {

using Memory = GlobalMemory;

// Zero-filled when first touched, so that only what is used costs memory.
template <class T>
T* reserve(std::size_t count) {
  void* const memory =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

// Whether what else was found is to be told instead.
bool is_lesser(const std::optional<GlobalOrder::Conflict>& conflict) {
  return !conflict || is_warning(conflict->kind);
}

}  // namespace

GlobalOrder::GlobalOrder()
    : reads_(reserve<Reads>(memory_.words())),
      writes_(reserve<Writes>(memory_.words())),
      parts_(reserve<Record>(memory_.words() * 4)) {}

void GlobalOrder::start_launch() {
  start_epoch();
  causality_.start_launch();
}

void GlobalOrder::start_epoch() {
  memory_.start_launch();
}

GlobalOrder::Record GlobalOrder::record_of(std::size_t word, std::uint8_t status) const {
  Record r{};
  const bool both = status == Memory::tracked || status == Memory::shared;
  if (both || status == Memory::only_read) static_cast<Reads&>(r) = reads_[word];
  if (both || status == Memory::only_written) static_cast<Writes&>(r) = writes_[word];
  return r;
}

std::uint8_t GlobalOrder::keep(std::size_t word, const Record& r) {
  if (r.read_block) reads_[word] = r;
  if (r.write_block) writes_[word] = r;
  return !r.write_block ? Memory::only_read : !r.read_block ? Memory::only_written : Memory::tracked;
}

Order GlobalOrder::order_of_write(const Record& r, const Lane& lane, const BlockStanding& block, std::size_t word,
                                  bool thorough) {
  const std::uintptr_t flag = r.write_atomic || r.write_volatile ? memory_.address_of(word) : 0;
  const auto of = [&](unsigned thread) {
    return causality_.order(r.write_block, thread, r.written, lane, block, thorough, flag);
  };
  if (r.write_block != block.number || r.writers == Who::one) return of(r.write_thread);
  // Which lanes of the warp have updated it is not known: any __syncwarp() since then will do.
  if (r.written < block.epoch ||
      (r.writers == Who::one_warp && r.write_thread / warp_lanes == lane.warp && lane.last_sync >= r.written)) {
    return Order::before;
  }
  return std::min(of(r.write_thread), of(r.other_writer));
}

Order GlobalOrder::order_of_reads(const Record& r, const Lane& lane, const BlockStanding& block, bool thorough) {
  // Of several readers only the latest stamp is known: it may be too late for the others, hence the epoch's.
  const bool is_one = r.read_block != block.number || r.readers == Who::one;
  const auto of = [&](unsigned thread) {
    return causality_.order(r.read_block, thread, is_one ? r.read : block.epoch, lane, block, thorough);
  };
  if (is_one) return of(r.read_thread);
  if (r.read < block.epoch ||
      (r.readers == Who::one_warp && r.read_thread / warp_lanes == lane.warp && lane.last_sync >= r.read)) {
    return Order::before;
  }
  return thorough ? std::min(of(r.read_thread), of(r.other_reader)) : Order::none;
}

// Atomic and volatile accesses may meet. What is written and read through volatile alone may be data: there the reader
// has to fence after it, which the end of the launch will tell.
std::optional<GlobalOrder::Conflict> GlobalOrder::with_write(const Record& r, const Lane& lane,
                                                             const BlockStanding& block, Use use, Site site,
                                                             std::size_t word) {
  if (!r.write_block) return std::nullopt;
  const bool near = r.write_block == block.number;
  const bool both_atomic = r.write_atomic && is_atomic(use);
  const bool in_reach = near || (!r.write_within_block && use != Use::atomic_block);
  if (both_atomic && in_reach) return std::nullopt;
  const Order order = order_of_write(r, lane, block, word, true);
  if (order == Order::before) return std::nullopt;
  const bool myself = near && r.write_thread == lane.thread;
  const unsigned writer = myself ? r.other_writer : r.write_thread;
  const bool strong = r.write_atomic || r.write_volatile;
  if (use == Use::volatile_read && strong && in_reach) {
    if (r.write_atomic) return std::nullopt;
    causality_.suspend({block.number, r.write_block, lane.thread, writer, site, r.write_site, memory_.address_of(word)},
                       lane.clock);
    return std::nullopt;
  }
  if (use == Use::read && r.write_atomic && in_reach && order == Order::none) {
    causality_.suspend_guess(
        {block.number, r.write_block, lane.thread, writer, site, r.write_site, memory_.address_of(word), false});
    return std::nullopt;
  }
  const bool both_strong = (use == Use::volatile_write && r.write_atomic) || (is_atomic(use) && r.write_volatile);
  if (in_reach && both_strong && causality_.is_lock(memory_.address_of(word))) return std::nullopt;
  return Conflict{DefectKind::global_race, true, r.write_block, writer, r.write_site, true, order, both_atomic};
}

std::optional<GlobalOrder::Conflict> GlobalOrder::with_reads(const Record& r, const Lane& lane,
                                                             const BlockStanding& block, Use use, Site site,
                                                             std::size_t word) {
  if (!r.read_block || (r.updated && (is_atomic(use) || use == Use::volatile_write))) return std::nullopt;
  // Who has used the result of its own update has seen those before it.
  if (r.updated && r.write_block == block.number && block.has_seen(memory_.address_of(word))) return std::nullopt;
  const Order order = order_of_reads(r, lane, block, true);
  if (order == Order::before) return std::nullopt;
  const bool near = r.read_block == block.number;
  const bool myself = near && r.read_thread == lane.thread;
  const unsigned reader = myself ? r.other_reader : r.read_thread;
  const bool is_read_on_record = !r.updated && !r.stored;
  if (is_read_on_record && r.read_volatile && use != Use::write && (near || use != Use::atomic_block)) {
    if (is_atomic(use)) return std::nullopt;
    causality_.suspend({r.read_block, block.number, reader, lane.thread, r.read_site, site, memory_.address_of(word)},
                       r.read);
    return std::nullopt;
  }
  if (is_read_on_record && is_atomic(use) && (near || use == Use::atomic) && order == Order::none) {
    causality_.suspend_guess(
        {r.read_block, block.number, reader, lane.thread, r.read_site, site, memory_.address_of(word), false});
    return std::nullopt;
  }
  if (r.updated && use == Use::read && order == Order::none) {
    causality_.suspend_guess(
        {block.number, r.read_block, lane.thread, reader, site, r.read_site, memory_.address_of(word), false});
    return std::nullopt;
  }
  if (r.updated && use == Use::volatile_read) return std::nullopt;
  return Conflict{DefectKind::global_race, true, r.read_block, reader, r.read_site, !is_read_on_record, order};
}

std::optional<GlobalOrder::Conflict> GlobalOrder::touch(Record& r, const Lane& lane, BlockStanding& block, Use use,
                                                        Site site, std::size_t word) {
  std::optional<Conflict> conflict = with_write(r, lane, block, use, site, word);
  if (is_read(use)) {
    if (r.updated || r.stored) {
      if (!conflict) conflict = with_reads(r, lane, block, use, site, word);
      r.read_block = r.updated = r.stored = 0;
    }
    // Earlier reads that come before this one need not be kept: what comes after this one comes after them.
    const bool first = r.read_block != block.number ||
                       (r.read != lane.clock && order_of_reads(r, lane, block, false) == Order::before);
    if (first) {
      r.read_block = block.number;
      r.read_thread = lane.thread & 1023;
      r.readers = Who::one;
      r.read_site = site;
      r.read_volatile = true;
    } else if (r.read_thread != lane.thread && r.readers != Who::several_warps) {
      r.readers = r.read_thread / warp_lanes == lane.warp ? Who::one_warp : Who::several_warps;
      r.other_reader = lane.thread & 1023;
    }
    r.read_volatile &= use == Use::volatile_read;
    r.read = first ? lane.clock : std::max(r.read, lane.clock);
    return conflict;
  }
  if (!conflict) conflict = with_reads(r, lane, block, use, site, word);
  const bool adds_update = is_atomic(use) && r.write_atomic;
  const bool joins_atomics = adds_update && r.write_block == block.number && r.written >= block.epoch &&
                             (r.write_thread != lane.thread || r.writers != Who::one);
  if (!joins_atomics) {
    r.writers = Who::one;
  } else if (r.write_thread != lane.thread) {
    r.writers = r.writers != Who::several_warps && r.write_thread / warp_lanes == lane.warp ? Who::one_warp
                                                                                            : Who::several_warps;
    r.other_writer = r.write_thread;
  }
  const bool was_stored = is_atomic(use) && r.write_block && !r.write_atomic && !r.write_volatile;
  const bool was_updated =
      adds_update && r.write_block != block.number && order_of_write(r, lane, block, word, false) != Order::before;
  if (was_stored || was_updated) {
    r.read_block = r.write_block;
    r.read_thread = r.write_thread;
    r.readers = Who::one;
    r.read_volatile = false;
    r.read = r.written;
    r.read_site = r.write_site;
    r.updated = was_updated;
    r.stored = was_stored;
  } else if (!adds_update || (!r.updated && !r.stored)) {
    r.read_block = r.updated = r.stored = 0;
  }
  r.write_block = block.number;
  r.write_thread = lane.thread & 1023;
  r.write_atomic = is_atomic(use);
  r.write_volatile = use == Use::volatile_write;
  r.write_within_block = use == Use::atomic_block;
  r.written = lane.clock;
  r.write_site = site;
  return conflict;
}

std::optional<GlobalOrder::Conflict> GlobalOrder::access_split(std::size_t word, std::uint8_t status, unsigned first,
                                                               unsigned bytes, const Lane& lane, BlockStanding& block,
                                                               Use use, Site site) {
  Record* const parts = parts_ + word * 4;
  // Until now one record stood for all four bytes.
  if (status != Memory::split) std::fill_n(parts, 4, record_of(word, status));
  std::optional<Conflict> conflict;
  for (unsigned byte = first; byte < first + bytes; ++byte) {
    const auto found = touch(parts[byte], lane, block, use, site, word);
    if (found && is_lesser(conflict)) conflict = found;
  }
  return conflict;
}

std::optional<GlobalOrder::Conflict> GlobalOrder::access_word(std::size_t word, unsigned first, unsigned bytes,
                                                              const Lane& lane, BlockStanding& block, Use use,
                                                              Site site) {
  std::uint8_t& state = memory_.states()[word];
  const KeptLock::Use lock(lock_of(word));
  const std::uint8_t status = Memory::status_of(state);
  if (status == Memory::unallocated) return Conflict{DefectKind::out_of_bounds};

  std::optional<Conflict> conflict;
  const auto touched = static_cast<std::uint8_t>((0xfu >> (4 - bytes)) << first);
  std::uint8_t written = state & Memory::all_written;
  if ((is_read(use) || is_atomic(use)) && (written & touched) != touched)
    conflict = Conflict{is_atomic(use) ? DefectKind::unwritten_update : DefectKind::uninitialised_global};
  written |= touched;

  std::uint8_t next = status;
  if (status == Memory::untouched) memory_.mark_touched(word);
  if (status == Memory::shared) {
    if (!is_read(use)) {
      memory_.end_quiet(word);
      // Two of its readers are on record, the second one in the place of a writer.
      Record record = record_of(word, status);
      Order order = order_of_reads(record, lane, block, true);
      if (order != Order::before && (record.read_block != block.number || record.read_thread != lane.thread)) {
        conflict = Conflict{
            DefectKind::global_race, true, record.read_block, record.read_thread, record.read_site, false, order};
      } else {
        order = causality_.order(record.write_block, record.write_thread, record.written, lane, block, true);
        if (order != Order::before) {
          conflict = Conflict{
              DefectKind::global_race, true, record.write_block, record.write_thread, record.write_site, false, order};
        }
      }
      record = {};
      touch(record, lane, block, use, site, word);
      next = keep(word, record);
    }
  } else if (bytes < 4 || status == Memory::split) {
    const auto found = access_split(word, status, first, bytes, lane, block, use, site);
    if (found && is_lesser(conflict)) conflict = found;
    next = Memory::split;
  } else if (status == Memory::only_read && use == Use::read && reads_[word].read_block != block.number) {
    writes_[word] = {
        .write_block = block.number, .write_thread = lane.thread & 1023, .written = lane.clock, .write_site = site};
    next = Memory::shared;
  } else {
    Record record = record_of(word, status);
    const auto found = touch(record, lane, block, use, site, word);
    if (found && is_lesser(conflict)) conflict = found;
    next = keep(word, record);
  }
  const std::uint8_t by_kernel = is_read(use) ? state & Memory::by_kernel : Memory::by_kernel;
  state = static_cast<std::uint8_t>(next | written | by_kernel);
  return conflict;
}

void GlobalOrder::look_for_quiet(std::size_t word) {
  if (!memory_.may_be_quiet(word)) return;
  const KeptLock::Use lock(lock_of(word));
  if (memory_.may_be_quiet(word)) memory_.set_quiet(word);
}

std::optional<GlobalOrder::Conflict> GlobalOrder::access(const Lane& lane, BlockStanding& block, std::uintptr_t address,
                                                         unsigned bytes, Use use, Site site) {
  const std::size_t word = memory_.word_of(address);
  if (bytes < 4) return access_word(word, address % 4, bytes, lane, block, use, site);
  std::optional<Conflict> conflict;
  for (std::size_t w = word; w < word + bytes / 4; ++w) {
    const auto found = access_word(w, 0, 4, lane, block, use, site);
    if (found && is_lesser(conflict)) conflict = found;
  }
  return conflict;
}

}  // namespace simt

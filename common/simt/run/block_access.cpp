// What a block makes of its threads' accesses to memory: whether they may happen, and what to say if not.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/observe/onlookers.hpp"
#include "common/simt/observe/quick_order.hpp"
#include "common/simt/observe/sink.hpp"
#include "common/simt/run/block.hpp"
#include "common/simt/run/own_stack.hpp"

// g++ 12 looks into a std::optional and not at the question whether there is something in it.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace simt {
namespace {

// SIMT_SAME_VALUE=allow: threads that write one value to one word do not race. To the C++ standard they do.
bool same_value_is_allowed() {
  static const bool allowed = [] {
    const char* const value = std::getenv("SIMT_SAME_VALUE");
    return value && std::string_view(value) == "allow";
  }();
  return allowed;
}

// What a report of a race adds to the place.
const char* remark_of(const GlobalOrder::Conflict& conflict) {
  if (conflict.atomics_of_a_block) return " (wrong scope: an atomic of block scope is none to another block)";
  if (conflict.order == Order::narrow)
    return " (wrong scope: a fence or atomic of block scope orders nothing for another block)";
  if (conflict.order == Order::no_reader_fence) return " (no fence after the flag was read)";
  return "";
}

}  // namespace

GlobalOrder& global_order() {
  static GlobalOrder& order = *new GlobalOrder;  // outlives the workers
  return order;
}

bool is_hosts_too(std::uintptr_t address) {
  const GlobalMemory& memory = GlobalMemory::instance();
  if (memory.contains(address)) return memory.is_hosts_too(address);
  return host_watch.ranges[HostWatch::managed].holds(address) || (is_registered && is_registered(address));
}

Party Block::party(const Lane& lane, Site site, std::string action) const {
  return {true, lane.context.block, lane.context.thread, place_of(site), std::move(action)};
}

Party party_of(const Launch& launch, std::uint32_t block, unsigned thread, Site site, std::string action) {
  const dim3 extent = launch.grid, size = launch.block;
  const std::uint32_t b = block - 1;
  return {true,
          {b % extent.x, b / extent.x % extent.y, b / extent.x / extent.y},
          {thread % size.x, thread / size.x % size.y, thread / size.x / size.y},
          place_of(site),
          std::move(action)};
}

Party Block::party(std::uint32_t block, unsigned thread, Site site, std::string action) const {
  return party_of(grid_->launch, block, thread, site, std::move(action));
}

void report_unfenced_looks(const Grid& grid) {
  for (const Causality::Suspended& what : global_order().finish_launch()) {
    if (grid.aborted && what.is_volatile) continue;  // it has not come to its fence
    grid.sink->report({DefectKind::global_race, grid.kernel,
                       GlobalMemory::instance().describe(what.address) +
                           (what.is_volatile ? " (no fence after the volatile read)" : ""),
                       party_of(grid.launch, what.read_block, what.read_thread, what.read_site, "reads it"),
                       party_of(grid.launch, what.write_block, what.write_thread, what.write_site, "writes it")});
  }
}

void Block::report(DefectKind kind, std::string where, Party one, Party other) const {
  if (!grid_->sink) return;  // nobody inspects; the launch is broken off all the same
  grid_->sink->report({kind, kernel_name_, std::move(where), std::move(one), std::move(other)});
}

// When a hook is called the write is still to come. It has come when the thread next stops, and nobody else of the block
// has run since.
void Block::report_if_different(Defect defect, std::uintptr_t address, unsigned bytes) {
  constexpr std::size_t most = 1024;
  if (doubtful_.size() >= most) compare_written();
  Doubtful& doubtful = doubtful_.emplace_back(Doubtful{std::move(defect), address, bytes, {}});
  std::memcpy(doubtful.before.data(), reinterpret_cast<const void*>(address), bytes);
}

void Block::compare_written() {
  const Unobserved unobserved;
  for (Doubtful& doubtful : doubtful_) {
    if (std::memcmp(doubtful.before.data(), reinterpret_cast<const void*>(doubtful.address), doubtful.bytes) != 0)
      grid_->sink->report(std::move(doubtful.defect));
  }
  doubtful_.clear();
}

std::uintptr_t Block::known_as(std::uintptr_t address) const {
  if (global_.contains(address) || shared_.contains(address)) return address;
  const std::uintptr_t shadow = global_.shadow_of(address);
  return shadow ? shadow : address;
}

std::string Block::describe(std::uintptr_t address, Site site, const char* verb) const {
  if (shared_.contains(address)) return shared_.describe(address, site, verb);
  return global_.describe(known_as(address));
}

void Block::note_global(std::uintptr_t address, std::uintptr_t real, unsigned bytes, Use use, Site site) {
  Lane& lane = *current_;
  forget_noted();
  if (!is_quick_global(lane, address, bytes, use, site)) access_global(address, real, bytes, use, site);
  record(lane, tag_of(site, false, bytes, use), real);
}

// Of global memory, aligned.
template <unsigned bytes, Use use>
void Block::note_plain(std::uintptr_t address, Site site) {
  Lane& lane = *current_;
  if (use == Use::read && order_->is_quiet_read(standing_, address, bytes)) {
    // At the end of what can be quiet, because most threads come there last.
    if ((address + bytes) % (GlobalMemory::quiet_words * 4) == 0) return note_quiet(address, bytes, site);
  } else if (bytes < 4 || kernel_uses || (use == Use::write && looks_at_writes_) ||
             !order_->quick_words<bytes>(lane, standing_, address, use, site)) {
    return note_global(address, address, bytes, use, site);
  } else if (use == Use::write && !keeps_records_) {
    noted_address_ = address;
    noted_site_ = site;
  }
  record(lane, tag_of(site, false, bytes, use), address);
}
template void Block::note_plain<1, Use::read>(std::uintptr_t, Site);
template void Block::note_plain<2, Use::read>(std::uintptr_t, Site);
template void Block::note_plain<4, Use::read>(std::uintptr_t, Site);
template void Block::note_plain<8, Use::read>(std::uintptr_t, Site);
template void Block::note_plain<16, Use::read>(std::uintptr_t, Site);
template void Block::note_plain<1, Use::write>(std::uintptr_t, Site);
template void Block::note_plain<2, Use::write>(std::uintptr_t, Site);
template void Block::note_plain<4, Use::write>(std::uintptr_t, Site);
template void Block::note_plain<8, Use::write>(std::uintptr_t, Site);
template void Block::note_plain<16, Use::write>(std::uintptr_t, Site);

void Block::note_quiet(std::uintptr_t address, unsigned bytes, Site site) {
  {
    const Unobserved unobserved;
    order_->look_for_quiet(global_.word_of(address));
  }
  record(*current_, tag_of(site, false, bytes, Use::read), address);
}

void Block::note_shared(std::uintptr_t address, unsigned bytes, Use use, Site site) {
  access_shared(address, bytes, use, site);
  record(*current_, tag_of(site, true, bytes, use), address);
}

// By a function of another image than the kernel's.
void Block::access_from_afar(std::uintptr_t address, unsigned bytes, Use use, const void* pc) {
  access_from(address, bytes, use, site_at(reinterpret_cast<std::uintptr_t>(pc)));
}

void Block::access_global(std::uintptr_t address, std::uintptr_t real, unsigned bytes, Use use, Site site) {
  const Unobserved unobserved;
  Lane& lane = *current_;
  if (is_atomic(use) || use == Use::volatile_write) {
    const Scope scope = use == Use::atomic_block ? Scope::block : Scope::device;
    order_->causality().release(lane, standing_, address, false, scope);
  } else if (use == Use::volatile_read) {
    order_->causality().volatile_read(lane, standing_, address);
  }
  auto conflict = order_->access(lane, standing_, address, bytes, use, site);
  const bool reads_unwritten = conflict && (conflict->kind == DefectKind::uninitialised_global ||
                                            conflict->kind == DefectKind::unwritten_update);
  if (reads_unwritten && global_.excuses_unwritten()) conflict.reset();
  // Only now is its read no longer on record, for others to find.
  for (unsigned at = 0; at < bytes && is_atomic(use); at += 4)
    order_->causality().confirm_guess(standing_.number, lane.thread, address + at);
  // Between the rows of a matrix nobody may write; and who reads there what nobody has written reads past a row.
  const bool checks_rows = !is_read(use) || reads_unwritten;
  if (checks_rows && global_.outside_of_a_matrix(address, bytes)) {
    conflict = GlobalOrder::Conflict{DefectKind::out_of_bounds};
  }
  if (kernel_uses) kernel_uses(address, bytes, use, reinterpret_cast<const void*>(place_of(site)));
  if (!is_read(use) && grid_->sink->watches_writes()) {
    grid_->sink->written(lane.context, reinterpret_cast<const void*>(real), bytes, place_of(site));
  }
  if (!conflict) return;
  if (same_value_is_allowed() && is_store(use) && conflict->kind == DefectKind::global_race && conflict->other_wrote) {
    return report_if_different({conflict->kind, kernel_name_, global_.describe(address),
                                party(lane, site, fmt::format("writes {} bytes", bytes)),
                                party(conflict->block, conflict->thread, conflict->site, "writes it")},
                               real, bytes);
  }
  if (!is_news(conflict->kind, site, conflict->site)) return;
  Party other;
  if (conflict->known) {
    other = party(conflict->block, conflict->thread, conflict->site, conflict->other_wrote ? "writes it" : "reads it");
  }
  const bool outside = conflict->kind == DefectKind::out_of_bounds;
  std::string where = global_.describe(outside ? global_.first_outside(address, bytes) : address);
  if (reads_unwritten && !outside) where += global_.untold(address);
  where += remark_of(*conflict);
  report(conflict->kind, where, party(lane, site, fmt::format("{} {} bytes", verb_of(use), bytes)), other);
  if (outside) abandon();
}

void Block::access_shared(std::uintptr_t address, unsigned bytes, Use use, Site site) {
  const Unobserved unobserved;
  const Lane& lane = *current_;
  if (is_atomic(use)) {
    const Scope scope = use == Use::atomic_block ? Scope::block : Scope::device;
    order_->causality().release(lane, standing_, address, true, scope);
  }
  const auto conflict = shared_.access(lane, address, bytes, use, site);
  if (!conflict) return;
  if (same_value_is_allowed() && is_store(use) && conflict->kind == DefectKind::shared_race && conflict->other_wrote) {
    return report_if_different({conflict->kind, kernel_name_, shared_.describe(address, site, verb_of(use)),
                                party(lane, site, fmt::format("writes {} bytes", bytes)),
                                party(standing_.number, conflict->thread, conflict->site, "writes it")},
                               address, bytes);
  }
  if (!is_news(conflict->kind, site, conflict->site)) return;
  Party other;
  if (conflict->kind == DefectKind::shared_race) {
    other = party(standing_.number, conflict->thread, conflict->site, conflict->other_wrote ? "writes it" : "reads it");
  }
  report(conflict->kind, shared_.describe(address, site, verb_of(use)),
         party(lane, site, fmt::format("{} {} bytes", verb_of(use), bytes)), other);
  if (conflict->kind == DefectKind::out_of_bounds) abandon();
}

void Block::access_elsewhere(std::uintptr_t address, unsigned bytes, Use use, Site site, bool aligned) {
  Lane& lane = *current_;
  if (stacks_->holds(lane.thread, address)) {
    if (meets_guard(address, bytes)) [[unlikely]] {
      const Unobserved unobserved;
      report(DefectKind::out_of_bounds, "beyond a local variable",
             party(lane, site, fmt::format("{} {} bytes", verb_of(use), bytes)));
      abandon();
    }
    return;
  }
  if (use == Use::read && !kernel_uses && global_.shadow_of_constant(address)) return;
  const std::uintptr_t shadow = global_.shadow_of(address);
  if (shadow && aligned) return note_global(shadow, address, bytes, use, site);
  const Unobserved unobserved;
  if (!aligned && (shadow || global_.contains(address) || shared_.contains(address))) {
    report(DefectKind::misaligned, describe(address, site, verb_of(use)),
           party(lane, site,
                 fmt::format("{} {} bytes at an address that is no multiple of {}", verb_of(use), bytes, bytes)));
    abandon(cudaErrorMisalignedAddress);
  }
  const std::size_t stack = stacks_->index_of(reinterpret_cast<const void*>(address));
  if (is_registered && is_registered(address)) return;
  if (stack < stacks_->count()) {
    report(DefectKind::host_memory, fmt::format("a local variable of another thread (number {} of the block)", stack),
           party(lane, site, fmt::format("{} {} bytes", verb_of(use), bytes)));
    abandon();
  }
  check_static(address, bytes, use, site);
}

// Constants are there on the device, too; variables only if they are declared __device__ or __constant__.
void Block::check_static(std::uintptr_t address, unsigned bytes, Use use, Site site) {
  const StaticStorage storage = static_storage_at(address);
  const bool reads = is_read(use);
  if (reads && is_constant_memory(address)) {
    if (kernel_uses) kernel_uses(address, bytes, use, reinterpret_cast<const void*>(place_of(site)));
    return;
  }
  if (reads && storage == StaticStorage::read_only) return;
  std::string where = "host memory";
  if (is_constant_memory(address)) {
    where = fmt::format("{}, which is constant", object_at(address));
  } else if (storage != StaticStorage::none) {
    const std::string name = object_at(address);
    if (is_device_variable(address)) return;
    where = fmt::format("the host's variable {}", name.empty() ? "(unknown)" : name);
  }
  report(DefectKind::host_memory, where, party(*current_, site, fmt::format("{} {} bytes", verb_of(use), bytes)));
  abandon();
}

void Block::index_out_of_bounds(std::size_t index, const void* pc) {
  const Unobserved unobserved;
  report(DefectKind::out_of_bounds, fmt::format("index {} of an array", static_cast<std::ptrdiff_t>(index)),
         party(*current_, site_of(pc), "uses it"));
  abandon();
}

// C++ does not say what comes out. A GPU shifts all bits out; a CPU takes the count modulo the number's bits.
void Block::wide_shift(std::int64_t by, unsigned bits, const void* pc) {
  const Unobserved unobserved;
  const Site site = site_of(pc);
  if (!is_news(DefectKind::wide_shift, site, site)) return;
  report(DefectKind::wide_shift, "a GPU and this CPU come to different results",
         party(*current_, site, fmt::format("shifts {} bits by {}", bits, by)));
}

void Block::outside_of_variable(std::uintptr_t address, const void* pc) {
  const Unobserved unobserved;
  const bool known = shared_.contains(address) || global_.contains(address) || global_.shadow_of(address);
  const bool own = stacks_->index_of(reinterpret_cast<const void*>(address)) == current_->thread;
  report(DefectKind::out_of_bounds,
         known ? describe(address, site_of(pc), "uses")
         : own ? "beyond a local variable"
               : "host memory",
         party(*current_, site_of(pc), "gets there from a variable"));
  abandon();
}

void Block::bad_free(std::uintptr_t address, const char* what, const void* pc) {
  const Unobserved unobserved;
  const std::string where = global_.contains(address) ? global_.describe(address) : "what is not the device's heap";
  report(DefectKind::out_of_bounds, where, party(*current_, site_of(pc), what));
  abandon();
}

void Block::refuse_call(const char* name, const void* pc) {
  const Unobserved unobserved;
  report(DefectKind::launch_limit, "the CPU executor has no dynamic parallelism",
         party(*current_, site_of(pc), fmt::format("calls {}", name)));
  abandon(cudaErrorNotSupported);
}

void Block::access_range(std::uintptr_t address, std::size_t bytes, Use use, const void* pc) {
  // The largest aligned piece. No type is aligned to more than what divides its size: for a struct of 12 bytes, three
  // pieces of 4, as nvcc would have it, wherever in an array it lies.
  const std::size_t widest = std::min<std::size_t>(bytes & -bytes, 16);
  while (bytes > 0) {
    std::size_t piece = widest;
    while (piece > bytes || address % piece != 0) piece /= 2;
    access(address, static_cast<unsigned>(piece), use, pc);
    address += piece;
    bytes -= piece;
  }
}

void Block::fence(Scope scope) {
  const Unobserved unobserved;
  order_->causality().fence(*current_, standing_, scope);
  // What follows is not what the fence covers.
  current_->clock = ++top_;
}

void Block::atomic_done(std::uintptr_t address, Scope scope, bool acquires) {
  const Unobserved unobserved;
  order_->causality().performed(*current_, standing_, known_as(address), shared_.contains(address), scope, acquires);
}

void Block::result_used(std::uintptr_t address) {
  const Unobserved unobserved;
  order_->causality().seen(*current_, standing_, known_as(address));
}

// A lane at the edge of a matrix may read less than the copy's width: part of the same request all the same.
void Block::read_for_copy(std::uintptr_t from, std::size_t bytes, unsigned width, const void* pc) {
  if (bytes == width || from % width != 0 || !global_.contains(from)) return access_range(from, bytes, Use::read, pc);
  const Site site = site_of(pc);
  for (std::size_t done = 0; done < bytes;) {
    const auto piece = static_cast<unsigned>(std::bit_floor(bytes - done));
    access_global(from + done, from + done, piece, Use::read, site);
    done += piece;
  }
  const auto log_width = static_cast<unsigned>(std::countr_zero(width));
  record(*current_, make_tag(site, false, false, false, log_width), from);
}

void Block::note_copy(Site site, std::uintptr_t to, std::uintptr_t from) {
  const Unobserved unobserved;
  if (!grid_->sink->watches_requests()) return;
  copies_.insert(site);
  copied_from_[to] = from;
}

void Block::copy_begin(void* to, const void* from, std::size_t bytes, std::size_t zeros, const void* pc) {
  Lane& lane = *current_;
  const auto target = reinterpret_cast<std::uintptr_t>(to);
  const Site site = site_of(pc);
  if (inspected_block) {
    const unsigned size = static_cast<unsigned>(bytes + zeros);
    const auto source = reinterpret_cast<std::uintptr_t>(from);
    note_copy(site, target, bytes > 0 ? source : 0);
    if (bytes > 0 && source % size != 0) access_elsewhere(source, size, Use::read, site, false);
    if (bytes > 0) read_for_copy(source, bytes, size, pc);
    // From now on the write may happen at any time.
    if (target % size == 0 && shared_.contains(target)) {
      const Unobserved unobserved;
      const auto conflict = shared_.announce_write(lane, target, size, site);
      if (conflict && is_news(conflict->kind, site, conflict->site)) {
        Party other;
        if (conflict->kind == DefectKind::shared_race) {
          other = party(standing_.number, conflict->thread, conflict->site,
                        conflict->other_wrote ? "writes it" : "reads it");
        }
        report(conflict->kind, shared_.describe(target, site, "writes"),
               party(lane, site, fmt::format("begins to copy {} bytes there", size)), other);
        if (conflict->kind == DefectKind::out_of_bounds) abandon();
      }
    } else {
      access_elsewhere(target, size, Use::write, site, target % size == 0);
    }
  }
  const Unobserved unobserved;
  lane.copies.push_back(
      {to, from, static_cast<std::uint16_t>(bytes), static_cast<std::uint16_t>(zeros), site, lane.copy_group});
}

// By any thread, its own or another one, whatever barriers there were.
void Block::look_for_early_reads(const Lane& lane, const PendingCopy& copy) {
  const auto target = reinterpret_cast<std::uintptr_t>(copy.to);
  const std::size_t bytes = std::size_t{copy.bytes} + copy.zeros;
  if (!shared_.contains(target) || !shared_.may_be_read_since_announced(target, bytes)) [[likely]]
    return;
  const Unobserved unobserved;
  const auto conflict = shared_.read_since_announced(target, bytes);
  if (!conflict || !is_news(conflict->kind, copy.site, conflict->site)) return;
  report(conflict->kind, shared_.describe(target, copy.site, "writes"),
         party(lane, copy.site, "copies it, and has not waited for that"),
         party(standing_.number, conflict->thread, conflict->site, "reads it"));
}

void Block::copy_commit() {
  ++current_->copy_group;
}

void Block::copy_wait(std::uint32_t pending, bool all) {
  Lane& lane = *current_;
  while (!lane.copies.empty()) {
    const PendingCopy copy = lane.copies.front();
    // Groups below copy_group are committed; the latest `pending` of them may stay under way.
    if (!all && copy.group + pending >= lane.copy_group) break;
    lane.copies.pop_front();
    if (inspected_block) {
      look_for_early_reads(lane, copy);
      access_range(reinterpret_cast<std::uintptr_t>(copy.to), std::size_t{copy.bytes} + copy.zeros, Use::write,
                   reinterpret_cast<const void*>(place_of(copy.site)));
    }
    const Unobserved unobserved;
    std::memcpy(copy.to, copy.from, copy.bytes);
    std::memset(static_cast<char*>(copy.to) + copy.bytes, 0, copy.zeros);
  }
}

}  // namespace simt

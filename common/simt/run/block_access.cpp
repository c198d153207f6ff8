// What a block makes of its threads' accesses to memory: whether they may happen, and what to say if not.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/observe/sink.hpp"
#include "common/simt/run/block.hpp"

namespace simt {
namespace {

const char* verb(Block::Use use) {
  return use == Block::Use::read ? "reads" : use == Block::Use::write ? "writes" : "updates";
}

}  // namespace

GlobalOrder& global_order() {
  static GlobalOrder& order = *new GlobalOrder;  // outlives the workers
  return order;
}

Party Block::party(const Lane& lane, Site site, std::string action) const {
  return {true, lane.context.block, lane.context.thread, place_of(site), std::move(action)};
}

Party Block::party(std::uint32_t block, unsigned thread, Site site, std::string action) const {
  const dim3 extent = grid_->launch.grid, size = grid_->launch.block;
  const std::uint32_t b = block - 1;
  return {true,
          {b % extent.x, b / extent.x % extent.y, b / extent.x / extent.y},
          {thread % size.x, thread / size.x % size.y, thread / size.x / size.y},
          place_of(site),
          std::move(action)};
}

void Block::report(DefectKind kind, std::string where, Party one, Party other) const {
  if (!grid_->sink) return;  // nobody inspects; the launch is broken off all the same
  grid_->sink->report({kind, kernel_name_, std::move(where), std::move(one), std::move(other)});
}

void Block::access_global(std::uintptr_t address, unsigned bytes, Use use, Site site) {
  const Unobserved unobserved;
  const Lane& lane = *current_;
  const auto order_use = use == Use::read    ? GlobalOrder::Use::read
                         : use == Use::write ? GlobalOrder::Use::write
                                             : GlobalOrder::Use::atomic;
  auto conflict = order_->access(lane, standing_, address, bytes, order_use, site);
  if (conflict && conflict->kind == DefectKind::uninitialised_global && global_.excuses_unwritten()) conflict.reset();
  // Between the rows of a matrix nobody may write; and who reads there what nobody has written reads past a row.
  const bool checks_rows = use != Use::read || (conflict && conflict->kind == DefectKind::uninitialised_global);
  if (checks_rows && global_.outside_of_a_matrix(address, bytes)) {
    conflict = GlobalOrder::Conflict{DefectKind::out_of_bounds};
  }
  if (use != Use::read && grid_->sink->watches_writes()) {
    grid_->sink->written(lane.context, reinterpret_cast<const void*>(address), bytes, place_of(site));
  }
  if (!conflict || !is_news(conflict->kind, site, conflict->site)) return;
  Party other;
  if (conflict->known) {
    other = party(conflict->block, conflict->thread, conflict->site, conflict->other_wrote ? "writes it" : "reads it");
  }
  const bool outside = conflict->kind == DefectKind::out_of_bounds;
  std::string where = global_.describe(outside ? global_.first_outside(address, bytes) : address);
  if (conflict->kind == DefectKind::uninitialised_global) where += global_.untold(address);
  report(conflict->kind, where, party(lane, site, fmt::format("{} {} bytes", verb(use), bytes)), other);
  if (outside) abandon();
}

void Block::access_shared(std::uintptr_t address, unsigned bytes, Use use, Site site) {
  const Unobserved unobserved;
  const Lane& lane = *current_;
  const auto shared_use = use == Use::read    ? SharedMemory::Use::read
                          : use == Use::write ? SharedMemory::Use::write
                                              : SharedMemory::Use::atomic;
  const auto conflict = shared_.access(lane, address, bytes, shared_use, site);
  if (!conflict || !is_news(conflict->kind, site, conflict->site)) return;
  Party other;
  if (conflict->kind == DefectKind::shared_race) {
    other = party(standing_.number, conflict->thread, conflict->site, conflict->other_wrote ? "writes it" : "reads it");
  }
  report(conflict->kind, shared_.describe(address, site, verb(use)),
         party(lane, site, fmt::format("{} {} bytes", verb(use), bytes)), other);
  if (conflict->kind == DefectKind::out_of_bounds) abandon();
}

void Block::access_elsewhere(std::uintptr_t address, unsigned bytes, Use use, Site site, bool aligned) {
  const Unobserved unobserved;
  const Lane& lane = *current_;
  if (!aligned && (global_.contains(address) || shared_.contains(address))) {
    report(
        DefectKind::misaligned,
        (global_.contains(address) ? global_.describe(address) : shared_.describe(address, site, verb(use))),
        party(lane, site, fmt::format("{} {} bytes at an address that is no multiple of {}", verb(use), bytes, bytes)));
    abandon();
  }
  const std::size_t stack = stacks_->index_of(reinterpret_cast<const void*>(address));
  if (stack == lane.thread) return;
  if (stack < stacks_->count()) {
    report(DefectKind::host_memory, fmt::format("a local variable of another thread (number {} of the block)", stack),
           party(lane, site, fmt::format("{} {} bytes", verb(use), bytes)));
    abandon();
  }
  check_static(address, bytes, use, site);
}

// Constants are there on the device, too; variables only if they are declared __device__ or __constant__.
void Block::check_static(std::uintptr_t address, unsigned bytes, Use use, Site site) {
  const StaticStorage storage = static_storage_at(address);
  const bool reads = use == Use::read;
  if (reads && (storage == StaticStorage::read_only || is_constant_memory(address))) return;
  std::string where = "host memory";
  if (is_constant_memory(address)) {
    where = fmt::format("{}, which is constant", object_at(address));
  } else if (storage != StaticStorage::none) {
    const std::string name = object_at(address);
    if (is_device_variable(address)) return;
    where = fmt::format("the host's variable {}", name.empty() ? "(unknown)" : name);
  }
  report(DefectKind::host_memory, where, party(*current_, site, fmt::format("{} {} bytes", verb(use), bytes)));
  abandon();
}

void Block::index_out_of_bounds(std::size_t index, const void* pc) {
  const Unobserved unobserved;
  report(DefectKind::out_of_bounds, fmt::format("index {} of an array", static_cast<std::ptrdiff_t>(index)),
         party(*current_, site_of(pc), "uses it"));
  abandon();
}

void Block::outside_of_variable(std::uintptr_t address, const void* pc) {
  const Unobserved unobserved;
  const std::string where = global_.contains(address) ? global_.describe(address) : "host memory";
  report(DefectKind::out_of_bounds, where, party(*current_, site_of(pc), "gets there from a variable"));
  abandon();
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

void Block::fence() {
  current_->fence = current_->clock;
  standing_.fence = std::max(standing_.fence, current_->clock);
}

void Block::acquire(std::uintptr_t address) {
  const Unobserved unobserved;
  if (global_.contains(address)) order_->acquire(standing_, address);
}

// A lane at the edge of a matrix may read less than the copy's width: part of the same request all the same.
void Block::read_for_copy(std::uintptr_t from, std::size_t bytes, unsigned width, const void* pc) {
  if (bytes == width || from % width != 0 || !global_.contains(from)) return access_range(from, bytes, Use::read, pc);
  const Site site = site_of(pc);
  for (std::size_t done = 0; done < bytes;) {
    const auto piece = static_cast<unsigned>(std::bit_floor(bytes - done));
    access_global(from + done, piece, Use::read, site);
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
      access_range(reinterpret_cast<std::uintptr_t>(copy.to), std::size_t{copy.bytes} + copy.zeros, Use::write,
                   reinterpret_cast<const void*>(place_of(copy.site)));
    }
    const Unobserved unobserved;
    std::memcpy(copy.to, copy.from, copy.bytes);
    std::memset(static_cast<char*>(copy.to) + copy.bytes, 0, copy.zeros);
  }
}

}  // namespace simt

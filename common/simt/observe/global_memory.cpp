#include "common/simt/observe/global_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <new>

namespace simt {
namespace {

constexpr std::size_t granule = 256;
constexpr std::size_t page = 64 * 1024;  // a multiple of every page size in use

// Addresses only: pages are added as they are handed out.
void* reserve(std::size_t bytes) {
  void* range = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return range == MAP_FAILED ? nullptr : range;
}

// The memory goes back to the system, and reads as 0 from now on. Older kernels ask for it to be accessible.
void give_back(std::uintptr_t begin, std::size_t bytes) {
  madvise(reinterpret_cast<void*>(begin), bytes, MADV_REMOVE);
}

bool protect(std::uintptr_t begin, std::size_t bytes, bool accessible) {
  return mprotect(reinterpret_cast<void*>(begin), bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

std::uintptr_t page_ceil(std::uintptr_t address) {
  return (address + page - 1) / page * page;
}

// Each allocation has pages of its own, and ends with a gap of at least one granule.
std::size_t span_of(std::size_t bytes) {
  return page_ceil(bytes + granule);
}

constexpr std::uint8_t not_by_kernel = 0xff ^ GlobalMemory::by_kernel;

}  // namespace

GlobalMemory& GlobalMemory::instance() {
  static GlobalMemory& memory = *new GlobalMemory;  // outlives all that is allocated from it
  return memory;
}

GlobalMemory::GlobalMemory() {
  // As much as the system lets us have, 64 GB if it can be (an address is never used twice), less under emulation.
  for (capacity_ = std::size_t{64} << 30; capacity_ >= std::size_t{1} << 30; capacity_ /= 2) {
    void* range = reserve(capacity_ + page);
    if (!range) continue;
    void* states =
        mmap(nullptr, capacity_ / 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (states == MAP_FAILED) {
      munmap(range, capacity_ + page);
      continue;
    }
    begin_ = next_ = page_ceil(reinterpret_cast<std::uintptr_t>(range));
    end_ = begin_ + capacity_ / 2;  // the rest is for a process apart
    states_ = static_cast<std::uint8_t*>(states);
    return;
  }
  throw std::bad_alloc();
}

void* GlobalMemory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t span = span_of(bytes);
  if (span < bytes || next_ + span > end_) return nullptr;
  void* const memory = reinterpret_cast<void*>(next_);
  if (!protect(next_, span, true)) return nullptr;
  std::memset(memory, 0xff, bytes);
  if (apart_) protect(next_, span, false);
  const std::size_t word = word_of(next_);
  std::memset(states_ + word, untouched, (bytes + 3) / 4);
  allocations_[next_] = bytes;
  next_ += span;
  return memory;
}

bool GlobalMemory::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto at = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (at == allocations_.end()) return false;
  const auto [begin, bytes] = *at;
  std::memset(states_ + word_of(begin), unallocated, (bytes + 3) / 4);
  if (apart_) protect(begin, span_of(bytes), true);
  give_back(begin, span_of(bytes));
  protect(begin, span_of(bytes), false);  // any further access by the host is a fault
  allocations_.erase(at);
  return true;
}

bool GlobalMemory::allocated(std::uintptr_t address, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return false;
  const auto [begin, size] = *std::prev(after);
  return address - begin <= size && bytes <= size - (address - begin);
}

std::string GlobalMemory::describe(std::uintptr_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after != allocations_.begin()) {
    const auto [begin, bytes] = *std::prev(after);
    const std::size_t offset = address - begin;
    if (offset < bytes) return fmt::format("byte {} of an allocation of {} bytes", offset, bytes);
    if (offset - bytes < (1u << 20) || after == allocations_.end()) {
      return fmt::format("{} bytes past the end of an allocation of {} bytes", offset - bytes, bytes);
    }
  }
  if (after != allocations_.end()) {
    return fmt::format("{} bytes before an allocation of {} bytes", after->first - address, after->second);
  }
  return "device memory that nobody has allocated";
}

void GlobalMemory::mark_written(std::uintptr_t address, std::size_t bytes) {
  if (bytes == 0 || !contains(address)) return;
  const std::uintptr_t end = address + bytes;
  const auto mark = [&](std::size_t word, std::uint8_t which) {
    // Neighbouring words' states may be marked by other threads, but a byte is written whole.
    if (states_[word] == unallocated) return;
    std::atomic_ref(states_[word]).fetch_or(which, std::memory_order_relaxed);
    std::atomic_ref(states_[word]).fetch_and(not_by_kernel, std::memory_order_relaxed);
  };
  const std::size_t first = word_of(address), last = word_of(end - 1);
  const unsigned skip = address % 4, keep = (end - 1) % 4 + 1;
  const auto head = static_cast<std::uint8_t>(0xfu << skip & 0xf), tail = static_cast<std::uint8_t>(0xfu >> (4 - keep));
  if (first == last) return mark(first, head & tail);
  mark(first, head);
  for (std::size_t word = first + 1; word < last; ++word) {
    if (states_[word] != unallocated) states_[word] = (states_[word] | all_written) & not_by_kernel;
  }
  mark(last, tail);
}

void GlobalMemory::start_launch() {
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, bytes] : allocations_) {
    std::uint8_t* state = states_ + word_of(begin);
    for (std::size_t i = 0; i < (bytes + 3) / 4; ++i)
      state[i] = static_cast<std::uint8_t>((state[i] & (all_written | by_kernel)) | untouched);
  }
}

void GlobalMemory::start_inspection() {
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, bytes] : allocations_) {
    std::uint8_t* state = states_ + word_of(begin);
    for (std::size_t i = 0; i < (bytes + 3) / 4; ++i) state[i] &= not_by_kernel;
  }
}

std::optional<std::size_t> GlobalMemory::first_not_by_kernel(std::uintptr_t address, std::size_t bytes) const {
  for (std::uintptr_t at = address; at < address + bytes; at = at / 4 * 4 + 4) {
    if (!(states_[word_of(at)] & by_kernel)) return at - address;
  }
  return std::nullopt;
}

GlobalMemory::Allocation GlobalMemory::allocation_at(std::uintptr_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return {address, 0};
  const auto [begin, bytes] = *std::prev(after);
  return address - begin < bytes ? Allocation{begin, bytes} : Allocation{address, 0};
}

void GlobalMemory::begin_apart() {
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, bytes] : allocations_) protect(begin, span_of(bytes), false);
  allocations_.clear();
  next_ = begin_ + capacity_ / 2;
  end_ = begin_ + capacity_;
  apart_ = true;
  // What a process before this one has left there.
  give_back(next_, capacity_ / 2);
  give_back(reinterpret_cast<std::uintptr_t>(states_ + word_of(next_)), capacity_ / 8);
}

void GlobalMemory::adopt(const std::vector<Allocation>& others) {
  const std::lock_guard lock(mutex_);
  for (const std::uintptr_t begin : std::exchange(adopted_, {})) allocations_.erase(begin);
  for (const auto& [begin, bytes] : others) {
    allocations_[begin] = bytes;
    adopted_.push_back(begin);
  }
}

void GlobalMemory::set_accessible(bool accessible) {
  if (!apart_) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, bytes] : allocations_) protect(begin, span_of(bytes), accessible);
}

}  // namespace simt

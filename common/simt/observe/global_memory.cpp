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
  void* range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return range == MAP_FAILED ? nullptr : range;
}

std::uintptr_t page_ceil(std::uintptr_t address) {
  return (address + page - 1) / page * page;
}

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
        mmap(nullptr, capacity_ / 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (states == MAP_FAILED) {
      munmap(range, capacity_ + page);
      continue;
    }
    begin_ = next_ = page_ceil(reinterpret_cast<std::uintptr_t>(range));
    states_ = static_cast<std::uint8_t*>(states);
    return;
  }
  throw std::bad_alloc();
}

void* GlobalMemory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  // Each allocation has pages of its own, and ends with a gap of at least one granule.
  const std::size_t span = page_ceil(bytes + granule);
  if (span < bytes || next_ + span > begin_ + capacity_) return nullptr;
  void* const memory = reinterpret_cast<void*>(next_);
  if (mprotect(memory, span, PROT_READ | PROT_WRITE) != 0) return nullptr;
  std::memset(memory, 0xff, bytes);
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
  const std::size_t span = page_ceil(bytes + granule);
  // Gives the pages back and makes any further access by the host a fault.
  mmap(pointer, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
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
    if (states_[word] != unallocated) std::atomic_ref(states_[word]).fetch_or(which, std::memory_order_relaxed);
  };
  const std::size_t first = word_of(address), last = word_of(end - 1);
  const unsigned skip = address % 4, keep = (end - 1) % 4 + 1;
  const auto head = static_cast<std::uint8_t>(0xfu << skip & 0xf), tail = static_cast<std::uint8_t>(0xfu >> (4 - keep));
  if (first == last) return mark(first, head & tail);
  mark(first, head);
  for (std::size_t word = first + 1; word < last; ++word) {
    if (states_[word] != unallocated) states_[word] |= all_written;
  }
  mark(last, tail);
}

void GlobalMemory::start_launch() {
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, bytes] : allocations_) {
    std::uint8_t* state = states_ + word_of(begin);
    for (std::size_t i = 0; i < (bytes + 3) / 4; ++i)
      state[i] = static_cast<std::uint8_t>((state[i] & all_written) | untouched);
  }
}

}  // namespace simt

// Which words of device memory hold a value, and whether a kernel has written it.
#include <atomic>
#include <cstring>

#include "common/simt/observe/global_memory.hpp"

namespace simt {
namespace {

constexpr std::uint8_t not_by_kernel = 0xff ^ GlobalMemory::by_kernel;

}  // namespace

// change(word, which of its bytes).
template <class Change>
void GlobalMemory::change_written(std::uintptr_t address, std::size_t bytes, Change change) {
  if (bytes == 0 || !contains(address)) return;
  const std::uintptr_t end = address + bytes;
  const std::size_t first = word_of(address), last = word_of(end - 1);
  const unsigned skip = address % 4, keep = (end - 1) % 4 + 1;
  const auto head = static_cast<std::uint8_t>(0xfu << skip & 0xf), tail = static_cast<std::uint8_t>(0xfu >> (4 - keep));
  if (first == last) return change(first, static_cast<std::uint8_t>(head & tail));
  change(first, head);
  for (std::size_t word = first + 1; word < last; ++word) change(word, all_written);
  change(last, tail);
}

void GlobalMemory::mark_written(std::uintptr_t address, std::size_t bytes) {
  change_written(address, bytes, [&](std::size_t word, std::uint8_t which) {
    if (states_[word] == unallocated) return;
    // Neighbouring words' states may be marked by other threads, but a byte is written whole.
    if (which == all_written) {
      states_[word] = (states_[word] | all_written) & not_by_kernel;
    } else {
      std::atomic_ref(states_[word]).fetch_or(which, std::memory_order_relaxed);
      std::atomic_ref(states_[word]).fetch_and(not_by_kernel, std::memory_order_relaxed);
    }
  });
}

void GlobalMemory::mark_zeroed(std::uintptr_t address, std::size_t bytes) {
  mark_written(address, bytes);
  change_written(address, bytes, [&](std::size_t word, std::uint8_t which) {
    if (which == all_written && states_[word] != unallocated) states_[word] |= by_kernel;
  });
}

void GlobalMemory::mark_copied(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  mark_written(to, bytes);
  if (!contains(from) || (to - from) % 4 != 0) return;
  change_written(to, bytes, [&](std::size_t word, std::uint8_t which) {
    if (which == all_written && states_[word] != unallocated)
      states_[word] |= states_[word - word_of(to) + word_of(from)] & by_kernel;
  });
}

void GlobalMemory::mark_unwritten(std::uintptr_t address, std::size_t bytes) {
  if (contains(address)) end_quiet(address, bytes);
  change_written(address, bytes,
                 [&](std::size_t word, std::uint8_t which) { states_[word] &= static_cast<std::uint8_t>(~which); });
}

// change(state) gives the new state of each word that kernels may touch.
template <class Change>
void GlobalMemory::change_states(Change change) {
  const std::lock_guard lock(mutex_);
  for (const auto& [start, allocation] : allocations_) {
    for (const Range& range : allocation.open) {
      std::uint8_t* const states = states_ + word_of(range.begin);
      for (std::size_t i = 0; i < (range.end - range.begin + 3) / 4; ++i)
        states[i] = static_cast<std::uint8_t>(change(states[i]));
    }
  }
}

void GlobalMemory::start_inspection() {
  change_states([](std::uint8_t state) { return state & not_by_kernel; });
}

std::optional<std::size_t> GlobalMemory::first_not_by_kernel(std::uintptr_t address, std::size_t bytes) const {
  for (std::uintptr_t at = address; at < address + bytes; at = at / 4 * 4 + 4) {
    if (!(states_[word_of(at)] & by_kernel)) return at - address;
  }
  return std::nullopt;
}

}  // namespace simt

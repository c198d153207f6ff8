#include "common/simt/observe/global_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "common/simt/code/symbols.hpp"

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

// Before the first allocation, so that what lies just before it is known as such.
constexpr std::size_t lead = 16 * page;

std::uintptr_t page_ceil(std::uintptr_t address) {
  return (address + page - 1) / page * page;
}

// Each allocation has pages of its own, and ends with a gap of at least one granule.
std::size_t span_of(std::size_t bytes) {
  return page_ceil(bytes + granule);
}

// Of eight words: whatever their status was, but unallocated, it is untouched from now on.
void forget_accesses(std::uint8_t* states) {
  std::uint64_t eight, each = 0x0101010101010101u;
  std::memcpy(&eight, states, sizeof eight);
  const std::uint64_t allocated = (eight >> 4 | eight >> 5 | eight >> 6) & each;
  eight = (eight & each * (GlobalMemory::all_written | GlobalMemory::by_kernel)) | allocated * GlobalMemory::untouched;
  std::memcpy(states, &eight, sizeof eight);
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
    void* states = mmap(nullptr, words(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (states == MAP_FAILED) {
      munmap(range, capacity_ + page);
      continue;
    }
    void* touched =
        mmap(nullptr, words() / chunk + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (touched == MAP_FAILED) throw std::bad_alloc();
    touched_ = static_cast<std::uint8_t*>(touched);
    void* quiet = mmap(nullptr, words() / words_of_quiet_byte, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (quiet == MAP_FAILED) throw std::bad_alloc();
    quiet_ = static_cast<std::uint8_t*>(quiet);
    begin_ = page_ceil(reinterpret_cast<std::uintptr_t>(range));
    next_ = begin_ + lead;
    end_ = begin_ + capacity_ / 8 * 7;  // the rest is for a process apart
    states_ = static_cast<std::uint8_t*>(states);
    return;
  }
  throw std::bad_alloc();
}

void* GlobalMemory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t span = span_of(bytes);
  if (span < bytes || next_ + span > end_ || !open(next_, bytes)) return nullptr;
  return reinterpret_cast<void*>(std::exchange(next_, next_ + span));
}

bool GlobalMemory::open(std::uintptr_t begin, std::size_t bytes) {
  if (!protect(begin, span_of(bytes), true)) return false;
  std::memset(reinterpret_cast<void*>(begin), 0xff, bytes);
  if (apart_) protect(begin, span_of(bytes), false);
  std::memset(states_ + word_of(begin), untouched, (bytes + 3) / 4);
  end_quiet(begin, bytes);
  allocations_[begin] = {bytes, {{begin, begin + bytes}}};
  return true;
}

bool GlobalMemory::allocate_again(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto at = freed_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (at == freed_.end() || !open(at->first, at->second)) return false;
  freed_.erase(at);
  return true;
}

bool GlobalMemory::allocate_sparse(MatrixPlace& matrix) {
  const std::lock_guard lock(mutex_);
  const std::size_t limit = std::size_t{1} << 31;
  const std::size_t lead =
      static_cast<std::size_t>(matrix.rows * matrix.ld) > limit ? page_ceil(limit * matrix.element_bytes) : 0;
  matrix.first = next_ + lead;
  const std::size_t bytes = matrix.end() - matrix.first, span = span_of(bytes);
  if (lead + span > end_ - next_ || !protect(matrix.first, span, true)) return false;
  Allocation& allocation = allocations_[matrix.first] = {bytes, {}, true};
  const std::size_t row = matrix.cols * matrix.element_bytes, stride = matrix.ld * matrix.element_bytes;
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    const std::uintptr_t begin = matrix.first + r * stride;
    std::memset(reinterpret_cast<void*>(begin), 0xff, row);
    std::memset(states_ + word_of(begin), untouched, (row + 3) / 4);
    allocation.open.push_back({begin, begin + row});
  }
  matrices_.push_back(matrix);
  next_ = matrix.first + span;
  return true;
}

// All words around these.
void GlobalMemory::end_quiet(std::uintptr_t begin, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t first = word_of(begin) / words_of_quiet_byte,
                    last = word_of(begin + bytes - 1) / words_of_quiet_byte;
  std::memset(quiet_ + first, 0, last - first + 1);
}

bool GlobalMemory::may_be_quiet(std::size_t word) const {
  const std::uint8_t* const states = states_ + word / quiet_words * quiet_words;
  constexpr std::uint64_t each = 0x0101010101010101u;
  for (std::size_t i = 0; i < quiet_words; i += sizeof(std::uint64_t)) {
    std::uint64_t eight;
    std::memcpy(&eight, states + i, sizeof eight);
    if ((eight | each * by_kernel) != each * (shared | all_written | by_kernel)) return false;
  }
  return true;
}

bool GlobalMemory::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto at = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (at == allocations_.end()) return false;
  const auto begin = at->first;
  const std::size_t bytes = at->second.bytes;
  for (const Range& range : at->second.open) {
    std::memset(states_ + word_of(range.begin), unallocated, (range.end - range.begin + 3) / 4);
    end_quiet(range.begin, range.end - range.begin);
  }
  std::erase_if(matrices_, [&](const MatrixPlace& matrix) { return matrix.first - begin <= bytes; });
  if (apart_) protect(begin, span_of(bytes), true);
  give_back(begin, span_of(bytes));
  protect(begin, span_of(bytes), false);  // any further access by the host is a fault
  const bool sparse = at->second.sparse;
  if (!sparse) freed_[begin] = bytes;
  allocations_.erase(at);
  if (sparse) {  // a few of them would use up all addresses
    const auto last = allocations_.rbegin();
    next_ = last == allocations_.rend() ? begin_ + lead : last->first + span_of(last->second.bytes);
  }
  return true;
}

bool GlobalMemory::allocated(std::uintptr_t address, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return false;
  const auto& [begin, allocation] = *std::prev(after);
  const std::size_t offset = address - begin;
  return offset <= allocation.bytes && bytes <= allocation.bytes - offset;
}

std::string GlobalMemory::describe(std::uintptr_t address) const {
  for (const auto* const sections : {&mapped_, &constants_}) {
    for (const Mapped& mapped : *sections) {
      const std::uintptr_t offset = address - mapped.shadow;
      if (offset < mapped.end - mapped.begin) return place_in_variable(mapped.begin + offset);
    }
  }
  const std::lock_guard lock(mutex_);
  for (const MatrixPlace& matrix : matrices_) {
    if (std::string text = matrix.cut_off(address); !text.empty()) return text;
  }
  if (const auto freed = freed_.upper_bound(address); freed != freed_.begin()) {
    const auto& [begin, bytes] = *std::prev(freed);
    if (address - begin < bytes)
      return fmt::format("byte {} of an allocation of {} bytes that has been freed", address - begin, bytes);
  }
  auto after = allocations_.upper_bound(address);
  if (after != allocations_.begin()) {
    const auto begin = std::prev(after)->first;
    const std::size_t bytes = std::prev(after)->second.bytes, offset = address - begin;
    const auto matrix = std::ranges::find_if(
        matrices_, [&](const MatrixPlace& each) { return each.first >= begin && each.first - begin <= bytes; });
    if (matrix != matrices_.end() && offset < bytes + (1u << 20)) return matrix->describe(address);
    if (offset < bytes) return fmt::format("byte {} of an allocation of {} bytes", offset, bytes);
    if (after == allocations_.end() || offset - bytes <= after->first - address) {  // the nearer one is meant
      return fmt::format("{} bytes past the end of an allocation of {} bytes", offset - bytes, bytes);
    }
  }
  if (after != allocations_.end()) {
    return fmt::format("{} bytes before an allocation of {} bytes", after->first - address, after->second.bytes);
  }
  return "device memory that nobody has allocated";
}

void GlobalMemory::name(const MatrixPlace& matrix) {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(matrix.first);
  if (after == allocations_.begin()) return;
  Allocation& allocation = std::prev(after)->second;
  std::erase_if(matrices_, [&](const MatrixPlace& other) { return other.first == matrix.first; });
  matrices_.push_back(matrix);
  // To whole words: a word that holds part of an element is touched with it.
  const Range open = {matrix.first & ~std::uintptr_t{3}, (matrix.end() + 3) & ~std::uintptr_t{3}};
  allocation.open = {open};
  const std::size_t begin = word_of(std::prev(after)->first), all = (allocation.bytes + 3) / 4;
  std::uint8_t* const states = states_ + begin;
  const std::size_t first = word_of(open.begin) - begin, last = word_of(open.end) - begin;
  end_quiet(std::prev(after)->first, allocation.bytes);
  std::memset(states, unallocated, first);
  std::memset(states + last, unallocated, all - last);
}

std::uintptr_t GlobalMemory::first_outside(std::uintptr_t address, std::size_t bytes) const {
  for (std::uintptr_t at = address; at < address + bytes; at += 4) {
    const bool inside = status_of(states_[word_of(at)]) != unallocated;
    if (!inside || outside_of_a_matrix(at, std::min<std::size_t>(bytes, 4))) return at;
  }
  return address;
}

void GlobalMemory::start_launch() {
  start_allocations();
  start_variables();
}

void GlobalMemory::start_allocations() {
  const std::lock_guard lock(mutex_);
  for (const auto& [start, allocation] : allocations_) {
    for (const Range& range : allocation.open) {
      const std::size_t end = (word_of(range.end - 1)) / chunk + 1;
      for (std::size_t c = word_of(range.begin) / chunk; c < end; ++c) {
        const void* const next = std::memchr(touched_ + c, 1, end - c);
        if (!next) break;
        c = static_cast<std::size_t>(static_cast<const std::uint8_t*>(next) - touched_);
        touched_[c] = 0;
        std::uint8_t* const states = states_ + c * chunk;
        std::memset(quiet_ + c * chunk / words_of_quiet_byte, 0, chunk / words_of_quiet_byte);
        for (std::size_t i = 0; i < chunk; i += sizeof(std::uint64_t)) forget_accesses(states + i);
      }
    }
  }
}

// Variables of the device have a value from the start.
void GlobalMemory::start_variables() {
  mapped_.clear();
  constants_.clear();
  std::uintptr_t next = begin_ + capacity_;
  for (const DeviceSection& section : device_sections()) {
    const std::uintptr_t begin = section.range.begin / 16 * 16;
    const std::size_t bytes = (section.range.end - begin + 15) / 16 * 16;
    if (bytes > begin_ + capacity_ + most_of_variables - next) break;
    (section.is_constant ? constants_ : mapped_)
        .push_back({section.range.begin, section.range.end, next + (section.range.begin - begin)});
    std::memset(states_ + word_of(next), unallocated, bytes / 4);
    for (const AddressRange& variable : section.variables) {
      const std::size_t first = word_of(next + (variable.begin - begin)),
                        last = word_of(next + (variable.end - begin + 3));
      std::memset(states_ + first, untouched | all_written, last - first);
    }
    next += bytes;
  }
}

std::optional<GlobalMemory::Holding> GlobalMemory::holding_at(std::uintptr_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  const auto& [begin, allocation] = *std::prev(after);
  if (address - begin >= allocation.bytes) return std::nullopt;
  const auto matrix = std::ranges::find_if(matrices_, [&, begin = begin, bytes = allocation.bytes](const auto& each) {
    return each.first >= begin && each.first - begin <= bytes;
  });
  return Holding{begin, allocation, matrix == matrices_.end() ? MatrixPlace{} : *matrix};
}

void GlobalMemory::begin_apart() {
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, allocation] : allocations_) protect(begin, span_of(allocation.bytes), false);
  allocations_.clear();
  freed_.clear();
  matrices_.clear();
  next_ = end_;
  end_ = begin_ + capacity_;
  apart_ = true;
  // What a process before this one has left there.
  give_back(next_, end_ - next_);
  give_back(reinterpret_cast<std::uintptr_t>(states_ + word_of(next_)), (end_ - next_) / 4);
  give_back(reinterpret_cast<std::uintptr_t>(quiet_ + word_of(next_) / words_of_quiet_byte),
            (end_ - next_) / 4 / words_of_quiet_byte);
}

void GlobalMemory::begin_anew() {
  const std::lock_guard lock(mutex_);
  // In place of what is shared, so that nobody has to learn of other addresses.
  const auto replace = [](void* range, std::size_t bytes, int access) {
    constexpr int how = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap(range, bytes, access, how, -1, 0) == MAP_FAILED) throw std::bad_alloc();
  };
  replace(reinterpret_cast<void*>(begin_), capacity_, PROT_NONE);
  replace(states_, words(), PROT_READ | PROT_WRITE);
  replace(quiet_, words() / words_of_quiet_byte, PROT_READ | PROT_WRITE);
  allocations_.clear();
  matrices_.clear();
  freed_.clear();
  next_ = begin_ + lead;
}

void GlobalMemory::adopt(const std::vector<Holding>& others) {
  const std::lock_guard lock(mutex_);
  for (const std::uintptr_t begin : std::exchange(adopted_, {})) allocations_.erase(begin);
  matrices_.clear();
  for (const auto& [begin, allocation, matrix] : others) {
    allocations_[begin] = allocation;
    adopted_.push_back(begin);
    if (!matrix.name.empty()) matrices_.push_back(matrix);
  }
}

void* GlobalMemory::copy_in(Holding other, const std::string& bytes, const std::string& states) {
  void* const memory = allocate(other.allocation.bytes);
  if (!memory) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t shift = begin - other.begin;
  Allocation& allocation = allocations_[begin];
  allocation.open = std::move(other.allocation.open);
  for (Range& range : allocation.open) range = {range.begin + shift, range.end + shift};
  std::memcpy(memory, bytes.data(), std::min(bytes.size(), allocation.bytes));
  std::memcpy(states_ + word_of(begin), states.data(), std::min(states.size(), (allocation.bytes + 3) / 4));
  for (std::size_t at = 0; at < allocation.bytes; at += chunk * 4) mark_touched(word_of(begin + at));
  if (!other.matrix.name.empty()) {
    other.matrix.first += shift;
    matrices_.push_back(std::move(other.matrix));
  }
  return memory;
}

std::string GlobalMemory::states_of(const Holding& holding) const {
  const auto* const first = reinterpret_cast<const char*>(states_ + word_of(holding.begin));
  return {first, (holding.allocation.bytes + 3) / 4};
}

void GlobalMemory::set_accessible(bool accessible) {
  if (!apart_) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, allocation] : allocations_) {
    if (!allocation.of_host_too) protect(begin, span_of(allocation.bytes), accessible);
  }
}

void GlobalMemory::share_with_host(std::uintptr_t begin) {
  const std::lock_guard lock(mutex_);
  const auto at = allocations_.find(begin);
  if (at == allocations_.end()) return;
  at->second.of_host_too = true;
  protect(begin, span_of(at->second.bytes), true);
}

bool GlobalMemory::is_hosts_too(std::uintptr_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  return after != allocations_.begin() && std::prev(after)->second.of_host_too;
}

}  // namespace simt

// Device memory on the CPU executor: one large range of addresses, each handed out once, so that an access shows
// whether it is to device memory at all, within bounds, to freed memory, or to words that nobody has written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace simt {

class GlobalMemory {
 public:
  static GlobalMemory& instance();

  /// 256-byte aligned, filled with NaN, and followed by a gap that belongs to nobody. Null if there is not enough.
  void* allocate(std::size_t bytes);
  /// False for what is not the start of an allocation.
  bool release(void* pointer);

  bool contains(std::uintptr_t address) const { return address - begin_ < capacity_; }
  /// Whether all of these bytes belong to one allocation.
  bool allocated(std::uintptr_t address, std::size_t bytes) const;
  /// "byte 4096 of an allocation of 4096 bytes", also for addresses near one
  std::string describe(std::uintptr_t address) const;

  /// The upper half of a state byte: what is known of a word (four bytes) in the launch under way. The lower half:
  /// which of its bytes hold a value.
  enum Status : std::uint8_t {
    unallocated = 0x00,
    untouched = 0x10,  ///< nobody has accessed it in this launch
    shared = 0x20,     ///< read by more than one block, and only read
    tracked = 0x30,    ///< see the word's record in the access log
    split = 0x40,      ///< the same, for its bytes one by one
  };
  static constexpr std::uint8_t all_written = 0x0f;
  static constexpr std::uint8_t status_of(std::uint8_t state) { return state & 0xf0; }

  std::size_t word_of(std::uintptr_t address) const { return (address - begin_) / 4; }
  std::uint8_t* states() const { return states_; }
  std::size_t words() const { return capacity_ / 4; }

  /// From here on these bytes count as written.
  void mark_written(std::uintptr_t address, std::size_t bytes);

  /// Forgets who accessed what: a launch begins.
  void start_launch();

 private:
  GlobalMemory();

  std::uintptr_t begin_ = 0;
  std::size_t capacity_ = 0;
  std::uint8_t* states_ = nullptr;

  mutable std::mutex mutex_;
  std::uintptr_t next_ = 0;
  std::map<std::uintptr_t, std::size_t> allocations_;  // start, bytes
};

}  // namespace simt

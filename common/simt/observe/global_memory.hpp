// Device memory on the CPU executor: one large range of addresses, each handed out once, so that an access shows
// whether it is to device memory at all, within bounds, to freed memory, or to words that nobody has written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

  /// Three bits of a state byte: what is known of a word (four bytes) in the launch under way. The lower half: which of
  /// its bytes hold a value. The highest bit: by_kernel.
  enum Status : std::uint8_t {
    unallocated = 0x00,
    untouched = 0x10,  ///< nobody has accessed it in this launch
    shared = 0x20,     ///< read by more than one block, and only read
    tracked = 0x30,    ///< see the word's record in the access log
    split = 0x40,      ///< the same, for its bytes one by one
  };
  static constexpr std::uint8_t all_written = 0x0f;
  /// A kernel of the inspection under way has written the word, and nobody else has since.
  static constexpr std::uint8_t by_kernel = 0x80;
  static constexpr std::uint8_t status_of(std::uint8_t state) { return state & 0x70; }

  std::size_t word_of(std::uintptr_t address) const { return (address - begin_) / 4; }
  std::uint8_t* states() const { return states_; }
  std::size_t words() const { return capacity_ / 4; }

  /// From here on these bytes count as written, and not by an inspected kernel.
  void mark_written(std::uintptr_t address, std::size_t bytes);

  /// Forgets who accessed what: a launch begins.
  void start_launch();
  /// Forgets what kernels wrote: an inspection begins.
  void start_inspection();
  /// The offset of the first of these bytes whose word no kernel of the inspection has written; nothing if all were.
  std::optional<std::size_t> first_not_by_kernel(std::uintptr_t address, std::size_t bytes) const;

  // For a process that is forked to run stages apart from those who judge them. What both know of is shared: the memory,
  // and the states.

  struct Allocation {
    std::uintptr_t begin;
    std::size_t bytes;
  };
  /// The one that holds this address; no bytes if none does.
  Allocation allocation_at(std::uintptr_t address) const;
  /// In the new process, once: it forgets all allocations and hands out addresses that the other one never does. From
  /// now on the host's code can't touch device memory: that takes an Opening.
  void begin_apart();
  /// In the new process: these allocations of the other one are all that it now knows of them.
  void adopt(const std::vector<Allocation>& others);

  /// While it lives, device memory can be accessed: kernels run, or the runtime copies. One at a time.
  class Opening {
   public:
    Opening() { instance().set_accessible(true); }
    ~Opening() { instance().set_accessible(false); }
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;
  };

 private:
  GlobalMemory();
  void set_accessible(bool accessible);

  std::uintptr_t begin_ = 0;
  std::size_t capacity_ = 0;
  std::uint8_t* states_ = nullptr;

  mutable std::mutex mutex_;
  std::uintptr_t next_ = 0, end_ = 0;  // of the addresses that this process hands out
  bool apart_ = false;
  std::vector<std::uintptr_t> adopted_;
  std::map<std::uintptr_t, std::size_t> allocations_;  // start, bytes
};

}  // namespace simt

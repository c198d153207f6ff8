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
#include <vector>

#include "common/simt/observe/matrix_place.hpp"

namespace simt {

class GlobalMemory {
 public:
  static GlobalMemory& instance();

  /// 256-byte aligned, filled with NaN, and followed by a gap that belongs to nobody. Null if there is not enough.
  void* allocate(std::size_t bytes);
  /// A matrix whose rows may lie gigabytes apart: only they are kernels' to touch, and only they take memory. Before one of more
  /// than 2^31 elements lie as many that are nobody's, so that an offset that has turned negative ends there. Its addresses are
  /// handed out again when it is gone. Sets matrix.first; false if there is no room.
  bool allocate_sparse(MatrixPlace& matrix);
  /// False for what is not the start of an allocation.
  bool release(void* pointer);
  /// What was released is allocated again, at the same address.
  bool allocate_again(void* pointer);

  std::uintptr_t begin() const { return begin_; }
  std::size_t bytes() const { return capacity_; }
  bool contains(std::uintptr_t address) const { return address - begin_ < capacity_; }
  /// Whether all of these bytes belong to one allocation.
  bool allocated(std::uintptr_t address, std::size_t bytes) const;
  /// "A(3, 5)" where a matrix lies, else "byte 4096 of an allocation of 4096 bytes"; also for addresses near one.
  std::string describe(std::uintptr_t address) const;

  /// A matrix lies here, alone in its allocation: kernels may read and write nothing before its first and behind its last
  /// element, and write nothing between its rows.
  void name(const MatrixPlace& matrix);
  /// Whether a matrix lies here, and these bytes are not all elements of it.
  bool outside_of_a_matrix(std::uintptr_t address, std::size_t bytes) const {
    const MatrixPlace* const matrix = matrix_at(address);
    return matrix && !matrix->has(address, bytes);
  }
  bool has_matrices() const { return !matrices_.empty(); }
  /// Of an access that is not all inside of one allocation, or of elements: the first word that is not.
  std::uintptr_t first_outside(std::uintptr_t address, std::size_t bytes) const;
  /// Why this may not be read before it is written; mostly empty.
  std::string untold(std::uintptr_t address) const {
    const MatrixPlace* const matrix = matrix_at(address);
    return matrix ? matrix->untold : "";
  }

  /// Three bits of a state byte: what is known of a word (four bytes) in the launch under way. The lower half: which of
  /// its bytes hold a value. The highest bit: by_kernel.
  enum Status : std::uint8_t {
    unallocated = 0x00,
    untouched = 0x10,  ///< nobody has accessed it in this launch
    shared = 0x20,     ///< read by more than one block, and only read
    tracked = 0x30,    ///< read and written: see the word's record (global_order.hpp)
    split = 0x40,      ///< the same, for its bytes one by one
    only_read = 0x50,  ///< by one block: half a record
    only_written = 0x60,
  };
  static constexpr std::uint8_t all_written = 0x0f;
  /// A kernel of the inspection under way has written the word, and nobody else has since. Zeros that the runtime writes,
  /// and copies of such words within the device, count as a kernel's.
  static constexpr std::uint8_t by_kernel = 0x80;
  static constexpr std::uint8_t status_of(std::uint8_t state) { return state & 0x70; }

  std::size_t word_of(std::uintptr_t address) const { return (address - begin_) / 4; }
  std::uintptr_t address_of(std::size_t word) const { return begin_ + word * 4; }
  std::uint8_t* states() const { return states_; }
  /// For each 256 words a byte, and of it a bit for each 64 of them: whether all are read by several blocks, only read, and
  /// written whole. Most reads need to know no more, and where a column of a large matrix is read, the words' own states
  /// lie in as many cache lines as the words.
  static constexpr unsigned quiet_words = 64, words_of_quiet_byte = 256;
  const std::uint8_t* quiet() const { return quiet_; }
  static bool is_quiet(const std::uint8_t* quiet, std::size_t offset) {
    return quiet[offset / (words_of_quiet_byte * 4)] >> (offset / (quiet_words * 4) % 4) & 1;
  }
  /// Whether all words around this one are so by now. And to be called with its lock taken: they are, or no longer are.
  bool may_be_quiet(std::size_t word) const;
  void set_quiet(std::size_t word) { quiet_[word / words_of_quiet_byte] |= quiet_bit(word); }
  void end_quiet(std::size_t word) {
    quiet_[word / words_of_quiet_byte] &= static_cast<std::uint8_t>(~quiet_bit(word));
  }
  std::size_t words() const { return (capacity_ + most_of_variables) / 4; }

  /// A variable of the device lies in the program, not here; its words have states all the same. This is the address
  /// by which they are found; nothing lies there. 0: it is no such variable.
  std::uintptr_t shadow_of(std::uintptr_t address) const { return shadow_in(mapped_, address); }
  /// The same of a __constant__ variable: kernels can't write it, but streams and the host can.
  std::uintptr_t shadow_of_constant(std::uintptr_t address) const { return shadow_in(constants_, address); }

  /// From here on these bytes count as written, and not by an inspected kernel.
  void mark_written(std::uintptr_t address, std::size_t bytes);
  /// The same, of zeros, and of bytes that have been copied from there.
  void mark_zeroed(std::uintptr_t address, std::size_t bytes);
  void mark_copied(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);
  /// And these no longer, although there are numbers.
  void mark_unwritten(std::uintptr_t address, std::size_t bytes);

  /// To be called when a word's status is no longer untouched, because only what is marked so is gone through when the
  /// next launch begins: thousands of small ones shall be cheap, however much is allocated.
  void mark_touched(std::size_t word) { std::atomic_ref(touched_[word / chunk]).store(1, std::memory_order_relaxed); }
  /// Forgets who accessed what: a launch begins.
  void start_launch();
  /// Forgets what kernels wrote: an inspection begins.
  void start_inspection();
  /// The offset of the first of these bytes whose word no kernel of the inspection has written; nothing if all were.
  std::optional<std::size_t> first_not_by_kernel(std::uintptr_t address, std::size_t bytes) const;

  /// From now on nobody can know what should have been written: a launch runs in part only.
  void excuse_unwritten() { excuses_unwritten_ = true; }
  bool excuses_unwritten() const { return excuses_unwritten_; }

  struct Range {
    std::uintptr_t begin, end;
  };
  struct Allocation {
    std::size_t bytes = 0;
    std::vector<Range> open = {};  ///< what kernels may touch
    bool sparse = false;
    bool of_host_too = false;
  };

  // For a process that is forked to run stages apart from those who judge them. What both know of is shared: the memory,
  // and the states.

  /// An allocation, and the matrix that lies there, if one does.
  struct Holding {
    std::uintptr_t begin = 0;
    Allocation allocation;
    MatrixPlace matrix;  ///< without a name if there is none
  };
  /// The one that holds this address.
  std::optional<Holding> holding_at(std::uintptr_t address) const;
  /// In the new process, once: it forgets all allocations and hands out addresses that the other one never does. From
  /// now on the host's code can't touch device memory, unless it is shared with it: that takes an Opening.
  void begin_apart();
  /// In the new process: these of the other one are all that it now knows of them.
  void adopt(const std::vector<Holding>& others);

  /// In a process that shares nothing: an allocation as another process describes it, at an address of this one. The
  /// bytes and the states are the other's. Null if there is no room. Release it as any other.
  void* copy_in(Holding other, const std::string& bytes, const std::string& states);
  /// The states of this allocation's words.
  std::string states_of(const Holding& holding) const;

  /// In a process that is forked to judge, too: it forgets all allocations, and from now on its memory is its own. Throws
  /// std::bad_alloc.
  void begin_anew();

  /// Of the allocation that begins here: the host's code may access it at any time.
  void share_with_host(std::uintptr_t begin);
  bool is_hosts_too(std::uintptr_t address) const;

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
  bool open(std::uintptr_t begin, std::size_t bytes);
  void start_allocations();
  void set_accessible(bool accessible);
  void start_variables();
  template <class Change>
  void change_states(Change change);
  // A handful, and few but writes ask.
  const MatrixPlace* matrix_at(std::uintptr_t address) const {
    for (const MatrixPlace& matrix : matrices_) {
      if (address >= matrix.first && address < matrix.end()) return &matrix;
    }
    return nullptr;
  }
  template <class Change>
  void change_written(std::uintptr_t address, std::size_t bytes, Change change);

  // __device__ and __managed__ variables.
  static constexpr std::size_t most_of_variables = std::size_t{1} << 30;
  struct Mapped {
    std::uintptr_t begin, end, shadow;
  };
  std::vector<Mapped> mapped_, constants_;  // change only while no kernel runs
  static std::uintptr_t shadow_in(const std::vector<Mapped>& sections, std::uintptr_t address) {
    for (const Mapped& mapped : sections) {
      if (address - mapped.begin < mapped.end - mapped.begin) return mapped.shadow + (address - mapped.begin);
    }
    return 0;
  }

  std::uintptr_t begin_ = 0;
  std::size_t capacity_ = 0;
  std::uint8_t* states_ = nullptr;
  std::uint8_t* quiet_ = nullptr;
  static std::uint8_t quiet_bit(std::size_t word) { return static_cast<std::uint8_t>(1u << (word / quiet_words % 4)); }
  void end_quiet(std::uintptr_t begin, std::size_t bytes);
  static constexpr std::size_t chunk = 4096;  // words
  std::uint8_t* touched_ = nullptr;           // for each chunk whether a word of it may be

  mutable std::mutex mutex_;
  std::uintptr_t next_ = 0, end_ = 0;  // of the addresses that this process hands out
  bool apart_ = false;
  bool excuses_unwritten_ = false;
  std::vector<std::uintptr_t> adopted_;
  std::map<std::uintptr_t, Allocation> allocations_;
  std::map<std::uintptr_t, std::size_t> freed_;  // and how many bytes it had
  std::vector<MatrixPlace> matrices_;            // changes only while no kernel runs
};

}  // namespace simt

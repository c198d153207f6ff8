// Numbers that this process and those forked from it see alike.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <new>

namespace gemm {

/// So many, all 0 at first.
class SharedNumbers {
 public:
  explicit SharedNumbers(std::size_t count) : bytes_(count * sizeof(std::atomic<int>)) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    numbers_ = new (memory) std::atomic<int>[count] {};
  }
  ~SharedNumbers() { munmap(numbers_, bytes_); }
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;

  std::atomic<int>& operator[](std::size_t i) const { return numbers_[i]; }

 private:
  static_assert(std::atomic<int>::is_always_lock_free);  // a lock would be each process' own
  std::size_t bytes_;
  std::atomic<int>* numbers_;
};

}  // namespace gemm

// Fibers: stacks of their own that one OS thread switches between, a few nanoseconds a switch.
#pragma once

#include <cstddef>

namespace simt {

/// A suspended fiber is its stack pointer: all else lies on its stack.
using FiberHandle = void*;

/// Prepares a fiber on the stack that ends at stack_top (16-byte aligned): the first switch to it calls entry(), which
/// must never return.
FiberHandle make_fiber(std::byte* stack_top, void (*entry)());

/// Leaves the running fiber, stores it in *from, and continues `to`.
void switch_fiber(FiberHandle* from, FiberHandle to);

/// Equal stacks in one mapping, each with an unmapped page below it, so that an overflow faults instead of corrupting a
/// neighbour.
class StackPool {
 public:
  static constexpr std::size_t stack_bytes = 64 * 1024;

  explicit StackPool(std::size_t count);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  /// Of all pools together.
  static std::size_t in_use();
  /// The top of stack i. Tops are staggered by a cache line: equal offsets would all map to the same cache sets.
  std::byte* top(std::size_t i) const;
  std::size_t count() const { return count_; }
  /// Whether stack i, or the page below it, holds this address: without the division that index_of() takes.
  bool holds(std::size_t i, std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(memory_ + i * slot_bytes_) < slot_bytes_;
  }
  /// The stack that holds this address, count() if none does.
  std::size_t index_of(const void* address) const;
  /// Tells AddressSanitizer, if it is there, that what fibers have left on their stacks without returning is gone.
  void forget_frames();
  /// Whether the address lies in the unmapped page below a stack.
  bool is_guard_page(const void* address) const;

 private:
  std::size_t count_;
  std::size_t slot_bytes_;  // guard page and stack
  std::byte* memory_ = nullptr;
};

}  // namespace simt

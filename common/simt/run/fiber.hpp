// Fibers: stacks of their own that one OS thread switches between, a few nanoseconds a switch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

/// A suspended fiber is its stack pointer: all else lies on its stack.
using FiberHandle = void*;

/// Prepares a fiber on the stack that ends at stack_top (16-byte aligned): the first switch to it calls entry(), which
/// must never return.
FiberHandle make_fiber(std::byte* stack_top, void (*entry)());

/// Leaves the running fiber, stores it in *from, and continues `to`. Inline, and by a jump: after a `ret` into another fiber
/// the CPU would mispredict it, and the callers' returns as well.
#if defined(__x86_64__)
[[gnu::always_inline]] inline void switch_fiber(FiberHandle* from, FiberHandle to) {
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"  // what a function may keep below its stack
      "pushq %%rbp\n\t"
      "pushq %%rbx\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%%rdi)\n\t"
      "movq %%rsi, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "popq %%rbx\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory",
        "cc");
}
#else
void switch_fiber(FiberHandle* from, FiberHandle to);
#endif

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
  std::uintptr_t bottom(std::size_t i) const {
    return reinterpret_cast<std::uintptr_t>(memory_ + (i + 1) * slot_bytes_ - stack_bytes);
  }
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

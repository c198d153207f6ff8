#include "common/simt/run/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#if defined(__x86_64__)
namespace {
// The address to jump to, and the 0 that ends a backtrace where a call's return address would be.
constexpr int frame_words = 2;
constexpr int return_address_word = 0;
}  // namespace
#elif defined(__aarch64__)
// Store what the ABI says a function must preserve, then the stack pointer; take the other one, load, return. The rest
// (caller-saved registers) the compiler has saved already, because to it this is an ordinary call.
extern "C" void simt_switch(void** from, void* to);
asm(R"(
.text
.globl simt_switch
.type simt_switch, %function
.align 4
simt_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size simt_switch, .-simt_switch
)");
namespace {
constexpr int frame_words = 20;
constexpr int return_address_word = 11;  // x30, the link register
}  // namespace
#else
#error "the CPU executor switches fibers on x86-64 and aarch64 only"
#endif

namespace simt {

FiberHandle make_fiber(std::byte* stack_top, void (*entry)()) {
#ifdef __SANITIZE_ADDRESS__
  // Threads end within functions, whose frames nobody leaves.
  __asan_unpoison_memory_region(stack_top - StackPool::stack_bytes, StackPool::stack_bytes);
#endif
  auto* frame = reinterpret_cast<std::uintptr_t*>(stack_top) - frame_words;
  for (int i = 0; i < frame_words; ++i) frame[i] = 0;
  frame[return_address_word] = reinterpret_cast<std::uintptr_t>(entry);
  return frame;
}

#if defined(__aarch64__)
void switch_fiber(FiberHandle* from, FiberHandle to) {
  simt_switch(from, to);
}
#endif

namespace {
std::atomic<std::size_t> stacks_in_use{0};
}  // namespace

std::size_t StackPool::in_use() {
  return stacks_in_use;
}

StackPool::StackPool(std::size_t count) : count_(count) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  slot_bytes_ = stack_bytes + page;
  if (count_ == 0) return;
  void* memory = mmap(nullptr, count_ * slot_bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
#ifndef __SANITIZE_ADDRESS__  // it would take what a forked process maps there next for their frames
  // A forked process has none of the threads that run on them, and must not come nearer to Linux' limit of regions.
  madvise(memory, count_ * slot_bytes_, MADV_DONTFORK);
#endif
  memory_ = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; i < count_; ++i) {
    if (mprotect(memory_ + i * slot_bytes_, page, PROT_NONE) != 0) throw std::bad_alloc();
  }
  stacks_in_use += count_;
}

StackPool::~StackPool() {
  forget_frames();
  if (count_ > 0) munmap(memory_, count_ * slot_bytes_);
  stacks_in_use -= count_;
}

std::size_t StackPool::index_of(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  const auto offset = static_cast<std::size_t>(byte - memory_);
  return byte < memory_ || offset >= count_ * slot_bytes_ ? count_ : offset / slot_bytes_;
}

void StackPool::forget_frames() {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(memory_, count_ * slot_bytes_);
#endif
}

bool StackPool::is_guard_page(const void* address) const {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - memory_);
  return index_of(address) < count_ && offset % slot_bytes_ < slot_bytes_ - stack_bytes;
}

std::byte* StackPool::top(std::size_t i) const {
  return memory_ + (i + 1) * slot_bytes_ - (i % 32) * 64;
}

}  // namespace simt

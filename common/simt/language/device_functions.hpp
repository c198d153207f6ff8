// What kernels call that is neither mathematics nor a matter of several threads: clocks, traps, the device's heap,
// questions about addresses. (printf is the C library's, and so is assert, whose failure comes to device_assert().)
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

/// Nanoseconds since some moment, and never the same twice.
long long clock_now();

/// What CUDA prints for an assertion that fails in the calling thread; ends the kernel: cudaErrorAssert.
[[noreturn]] void device_assert(const char* expression, const char* file, unsigned line, const char* function);
/// Ends the kernel: cudaErrorLaunchFailure.
[[noreturn]] void device_trap();

// The heap of the device, for malloc(), free(), new and delete in kernels. Null if more than heap_limit() bytes would be
// in use, as on a GPU (8 MB there, too, if nobody says else).
std::size_t heap_limit();
void set_heap_limit(std::size_t bytes);

// Which kind of memory is it?
bool is_global(const void* address);
bool is_shared(const void* address);
bool is_constant(const void* address);
bool is_local(const void* address);
/// An address in shared memory as the number that PTX knows it by: bytes from the beginning.
std::size_t shared_offset(const void* address);
void* shared_at(std::size_t offset);

}  // namespace simt

[[gnu::always_inline]] inline long long clock64() {
  return simt::clock_now();
}
[[gnu::always_inline]] inline void __trap() {
  simt::device_trap();
}
/// A debugger's: nobody is there.
[[gnu::always_inline]] inline void __brkpt() {}
[[gnu::always_inline]] inline void __prof_trigger(int) {}

[[gnu::always_inline]] inline void __builtin_assume(bool) {}
[[gnu::always_inline]] inline void __assume(bool) {}

[[gnu::always_inline]] inline unsigned __isGlobal(const void* address) {
  return simt::is_global(address);
}
[[gnu::always_inline]] inline unsigned __isShared(const void* address) {
  return simt::is_shared(address);
}
[[gnu::always_inline]] inline unsigned __isConstant(const void* address) {
  return simt::is_constant(address);
}
[[gnu::always_inline]] inline unsigned __isLocal(const void* address) {
  return simt::is_local(address);
}
[[gnu::always_inline]] inline unsigned __isGridConstant(const void*) {
  return 0;
}
// Here all kinds of memory have addresses of one kind; only shared memory's are told apart, as offsets.
[[gnu::always_inline]] inline std::size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<std::size_t>(address);
}
[[gnu::always_inline]] inline std::size_t __cvta_generic_to_shared(const void* address) {
  return simt::shared_offset(address);
}
[[gnu::always_inline]] inline void* __cvta_global_to_generic(std::size_t address) {
  return reinterpret_cast<void*>(address);
}
[[gnu::always_inline]] inline void* __cvta_shared_to_generic(std::size_t offset) {
  return simt::shared_at(offset);
}

// The functions that g++ calls in instrumented code: -fsanitize=thread puts one before each load and store,
// -fsanitize-coverage=trace-pc one into each basic block. libtsan and libsanitizer are not linked; these take their
// place. Outside kernels they do next to nothing: in a program, they see whether the host touches what is the device's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/simt/language/access.hpp"
#include "common/simt/observe/onlookers.hpp"
#include "common/simt/run/block.hpp"

namespace simt {
namespace {

// By what no inspected kernel does.
[[gnu::noinline]] void on_other_access(std::uintptr_t at, unsigned bytes, Use use, const void* pc) {
  if (running_block) {
    if (!is_read(use)) note_uninspected_write(at, bytes);
  } else if (host_watch.holds(at)) [[unlikely]] {
    host_touches(at, bytes, use, pc);
  }
}

[[gnu::always_inline]] inline void on_access(void* address, unsigned bytes, Use use, const void* pc) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (Block* const block = inspected_block) return block->access(at, bytes, use, pc);
  on_other_access(at, bytes, use, pc);
}

// Apart from what is most frequent, or the registers that this needs would be saved for that, too.
template <unsigned bytes, Use use>
[[gnu::noinline]] void on_any_plain_access(void* address, const void* pc) {
  on_access(address, bytes, use, pc);
}

template <unsigned bytes, Use use>
[[gnu::always_inline]] inline void on_plain_access(void* address, const void* pc) {
  Block* const block = inspected_block;
  if (block && block->plain_access<bytes, use>(reinterpret_cast<std::uintptr_t>(address), pc)) return;
  on_any_plain_access<bytes, use>(address, pc);
}

[[gnu::noinline]] void on_basic_block(unsigned char interest, const void* pc) {
  if (Block* const block = inspected_block) block->at_basic_block(pc, interest);
}

// One that a thread may wait by, for another one to change the value.
inline void on_waiting_access(void* address, unsigned bytes, Use use, const void* pc) {
  if (Block* const block = inspected_block) block->look_for_spin(reinterpret_cast<std::uintptr_t>(address), bytes, pc);
  on_access(address, bytes, use, pc);
}

inline void on_range(void* address, std::size_t bytes, Use use, const void* pc) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (Block* const block = inspected_block) {
    block->access_range(at, bytes, use, pc);
  } else if (running_block) {
    if (!is_read(use)) note_uninspected_write(at, bytes);
  } else if (host_watch.holds(at)) [[unlikely]] {
    host_touches(at, bytes, use, pc);
  }
}

inline void on_host_atomic(const volatile void* address, unsigned bytes, Use use, const void* pc) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!running_block && host_watch.holds(at)) [[unlikely]]
    host_touches(at, bytes, use, pc);
}

// Whether anybody wants to know of a copy between these.
inline bool is_of_interest(const void* one, const void* other) {
  return running_block || host_watch.holds(reinterpret_cast<std::uintptr_t>(one)) ||
         host_watch.holds(reinterpret_cast<std::uintptr_t>(other));
}

}  // namespace

void note_uninspected_write(std::uintptr_t address, std::size_t bytes) {
  GlobalMemory::instance().mark_written(address, bytes);
}

void note_atomic(void* address, std::size_t bytes, Scope scope, const void* pc) {
  const Use use = scope == Scope::block ? Use::atomic_block : Use::atomic;
  on_waiting_access(address, static_cast<unsigned>(bytes), use, pc);
}

void note_atomic_done(void* address, Scope scope, bool acquires) {
  if (Block* const block = inspected_block)
    block->atomic_done(reinterpret_cast<std::uintptr_t>(address), scope, acquires);
}

std::uint64_t note_result(const void* address, std::uint64_t token) noexcept {
  note_result_used(address);
  return token;
}

void note_result_used(const void* address) {
  if (Block* const block = inspected_block) block->result_used(reinterpret_cast<std::uintptr_t>(address));
}

void note_fence(Scope scope) {
  if (Block* const block = inspected_block) block->fence(scope);
}

void note_tensor_flops(std::uint64_t flops) {
  if (running_block) running_block->tensor_flops(flops);
}

void async_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, const void* pc) {
  running_block->copy_begin(to, from, bytes, zeros, pc);
}
void async_commit() {
  running_block->copy_commit();
}
void async_wait(int pending) {
  running_block->copy_wait(static_cast<std::uint32_t>(pending), false);
}
void async_wait_all() {
  running_block->copy_wait(0, true);
}

}  // namespace simt

#define HERE __builtin_return_address(0)
#define ACCESS_HOOKS(n)                                            \
  void __tsan_read##n(void* p) {                                   \
    simt::on_plain_access<n, simt::Use::read>(p, HERE);            \
  }                                                                \
  void __tsan_write##n(void* p) {                                  \
    simt::on_plain_access<n, simt::Use::write>(p, HERE);           \
  }                                                                \
  void __tsan_volatile_read##n(void* p) {                          \
    simt::on_waiting_access(p, n, simt::Use::volatile_read, HERE); \
  }                                                                \
  void __tsan_volatile_write##n(void* p) {                         \
    simt::on_access(p, n, simt::Use::volatile_write, HERE);        \
  }                                                                \
  /* Under-aligned types, which nvcc too would take apart. */      \
  void __tsan_unaligned_read##n(void* p) {                         \
    simt::on_range(p, n, simt::Use::read, HERE);                   \
  }                                                                \
  void __tsan_unaligned_write##n(void* p) {                        \
    simt::on_range(p, n, simt::Use::write, HERE);                  \
  }                                                                \
  void __tsan_unaligned_volatile_read##n(void* p) {                \
    simt::on_range(p, n, simt::Use::volatile_read, HERE);          \
  }                                                                \
  void __tsan_unaligned_volatile_write##n(void* p) {               \
    simt::on_range(p, n, simt::Use::volatile_write, HERE);         \
  }

// std::atomic and the like. Kernels use CUDA's functions (atomics.hpp); these are for host code in the same files.
#define ATOMIC_UPDATE(bits, type, name, builtin)                     \
  type __tsan_atomic##bits##_##name(volatile type* p, type v, int) { \
    simt::on_host_atomic(p, sizeof(type), simt::Use::atomic, HERE);  \
    return builtin(p, v, __ATOMIC_SEQ_CST);                          \
  }
#define ATOMIC_EXCHANGE(bits, type, name, weak)                                            \
  int __tsan_atomic##bits##_##name(volatile type* p, type* c, type v, int, int) {          \
    simt::on_host_atomic(p, sizeof(type), simt::Use::atomic, HERE);                        \
    return __atomic_compare_exchange_n(p, c, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
#define ATOMIC_HOOKS(bits, type)                                            \
  type __tsan_atomic##bits##_load(const volatile type* p, int) {            \
    simt::on_host_atomic(p, sizeof(type), simt::Use::volatile_read, HERE);  \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                            \
  }                                                                         \
  void __tsan_atomic##bits##_store(volatile type* p, type v, int) {         \
    simt::on_host_atomic(p, sizeof(type), simt::Use::volatile_write, HERE); \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                               \
  }                                                                         \
  ATOMIC_UPDATE(bits, type, exchange, __atomic_exchange_n)                  \
  ATOMIC_UPDATE(bits, type, fetch_add, __atomic_fetch_add)                  \
  ATOMIC_UPDATE(bits, type, fetch_sub, __atomic_fetch_sub)                  \
  ATOMIC_UPDATE(bits, type, fetch_and, __atomic_fetch_and)                  \
  ATOMIC_UPDATE(bits, type, fetch_or, __atomic_fetch_or)                    \
  ATOMIC_UPDATE(bits, type, fetch_xor, __atomic_fetch_xor)                  \
  ATOMIC_EXCHANGE(bits, type, compare_exchange_strong, false)               \
  ATOMIC_EXCHANGE(bits, type, compare_exchange_weak, true)

extern "C" {

ACCESS_HOOKS(1)
ACCESS_HOOKS(2)
ACCESS_HOOKS(4)
ACCESS_HOOKS(8)
ACCESS_HOOKS(16)
ATOMIC_HOOKS(8, std::uint8_t)
ATOMIC_HOOKS(16, std::uint16_t)
ATOMIC_HOOKS(32, std::uint32_t)
ATOMIC_HOOKS(64, std::uint64_t)

void __tsan_read_range(void* p, std::size_t bytes) {
  simt::on_range(p, bytes, simt::Use::read, HERE);
}
void __tsan_write_range(void* p, std::size_t bytes) {
  simt::on_range(p, bytes, simt::Use::write, HERE);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
// An object's pointer to its virtual functions.
void __tsan_vptr_update(void** p, void*) {
  simt::on_access(p, sizeof *p, simt::Use::write, HERE);
}
void __tsan_vptr_read(void** p) {
  simt::on_access(p, sizeof *p, simt::Use::read, HERE);
}
void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

void __sanitizer_cov_trace_pc() {
  if (const unsigned char interest = __atomic_load_n(&simt::basic_block_interest, __ATOMIC_RELAXED)) [[unlikely]]
    simt::on_basic_block(interest, HERE);
}

// -fsanitize=bounds: an index beyond its array, whose type g++ knows. The address alone might lie in a neighbour.
struct BoundsSite {
  const char* file;
  std::uint32_t line, column;
};
// A type, as g++ describes it: of an integer, `info` is twice the logarithm of its bits, and whether it has a sign.
struct TypeDescriptor {
  std::uint16_t kind, info;
  unsigned bits() const { return 1u << (info >> 1); }
};
void __ubsan_handle_out_of_bounds(const BoundsSite* site, std::uintptr_t index) {
  if (simt::Block* const block = simt::inspected_block) {
    block->index_out_of_bounds(index, HERE);
  } else {
    std::fprintf(stderr, "%s:%u: index %zu out of bounds\n", site->file, site->line, index);
    std::abort();
  }
}

// -fsanitize=shift-exponent, which only programs are compiled with.
struct ShiftSite {
  BoundsSite place;
  const TypeDescriptor *number, *count;
};
void __ubsan_handle_shift_out_of_bounds(const ShiftSite* site, std::uintptr_t, std::uintptr_t count) {
  simt::Block* const block = simt::inspected_block;
  if (!block) return;
  const bool is_int = site->count->bits() == 32;
  const std::int64_t by = is_int ? static_cast<std::int32_t>(count) : static_cast<std::int64_t>(count);
  block->wide_shift(by, site->number->bits(), HERE);
}

// -fsanitize=object-size: an access through a local or constant
// variable that lies outside of it. g++ puts no hook before accesses to variables that no other thread can know.
void __ubsan_handle_type_mismatch_v1(const BoundsSite*, std::uintptr_t address) {
  if (simt::Block* const block = simt::inspected_block) {
    block->outside_of_variable(address, HERE);
  } else if (simt::running_block || !simt::host_may_leave_variables) {
    std::abort();
  }
}

// Copies, fills and comparisons. --wrap makes the linker send all calls here.
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
int __real_memcmp(const void* one, const void* other, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  if (bytes && simt::is_of_interest(to, from)) {
    simt::on_range(const_cast<void*>(from), bytes, simt::Use::read, HERE);
    simt::on_range(to, bytes, simt::Use::write, HERE);
  }
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  if (bytes && simt::is_of_interest(to, from)) {
    simt::on_range(const_cast<void*>(from), bytes, simt::Use::read, HERE);
    simt::on_range(to, bytes, simt::Use::write, HERE);
  }
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  if (bytes && simt::is_of_interest(to, to)) simt::on_range(to, bytes, simt::Use::write, HERE);
  return __real_memset(to, value, bytes);
}
int __wrap_memcmp(const void* one, const void* other, std::size_t bytes) {
  if (bytes && simt::is_of_interest(one, other)) {
    simt::on_range(const_cast<void*>(one), bytes, simt::Use::read, HERE);
    simt::on_range(const_cast<void*>(other), bytes, simt::Use::read, HERE);
  }
  return __real_memcmp(one, other, bytes);
}

}  // extern "C"

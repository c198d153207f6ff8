// CUDA's atomic functions. The operations are in atomics.cpp, which reports each with the place that it returns to:
// these shims are always inlined, so that this is a place in the kernel.
//
// Blocks run in parallel on OS threads, so _block, _system and the plain form are all the strongest.
#pragma once

#include <type_traits>

namespace simt {

// Each returns the old value.
template <class T>
T atomic_add(T* address, T value);
template <class T>
T atomic_sub(T* address, T value);
template <class T>
T atomic_exchange(T* address, T value);
template <class T>
T atomic_min(T* address, T value);
template <class T>
T atomic_max(T* address, T value);
template <class T>
T atomic_and(T* address, T value);
template <class T>
T atomic_or(T* address, T value);
template <class T>
T atomic_xor(T* address, T value);
template <class T>
T atomic_increment(T* address, T limit);
template <class T>
T atomic_decrement(T* address, T limit);
template <class T>
T atomic_compare_exchange(T* address, T expected, T desired);

void thread_fence();

template <class T, class... Types>
concept OneOf = (std::is_same_v<T, Types> || ...);

}  // namespace simt

// The empty asm statement keeps the call from becoming a jump, whose return address would be the kernel's caller.
#define SIMT_ATOMIC_SCOPE(name, operation, ...)                                     \
  template <simt::OneOf<__VA_ARGS__> T>                                             \
  [[gnu::always_inline]] inline T name(T* address, std::type_identity_t<T> value) { \
    const T old = simt::operation(address, value);                                  \
    __asm__ volatile("");                                                           \
    return old;                                                                     \
  }
#define SIMT_ATOMIC(name, operation, ...)                 \
  SIMT_ATOMIC_SCOPE(name, operation, __VA_ARGS__)         \
  SIMT_ATOMIC_SCOPE(name##_block, operation, __VA_ARGS__) \
  SIMT_ATOMIC_SCOPE(name##_system, operation, __VA_ARGS__)

// The types for which CUDA has them.
SIMT_ATOMIC(atomicAdd, atomic_add, int, unsigned, unsigned long long, float, double)
SIMT_ATOMIC(atomicSub, atomic_sub, int, unsigned)
SIMT_ATOMIC(atomicExch, atomic_exchange, int, unsigned, unsigned long long, float)
SIMT_ATOMIC(atomicMin, atomic_min, int, unsigned, long long, unsigned long long)
SIMT_ATOMIC(atomicMax, atomic_max, int, unsigned, long long, unsigned long long)
SIMT_ATOMIC(atomicAnd, atomic_and, int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicOr, atomic_or, int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicXor, atomic_xor, int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicInc, atomic_increment, unsigned)
SIMT_ATOMIC(atomicDec, atomic_decrement, unsigned)
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_SCOPE

#define SIMT_ATOMIC_CAS(name, ...)                                                   \
  template <simt::OneOf<__VA_ARGS__> T>                                              \
  [[gnu::always_inline]] inline T name(T* address, std::type_identity_t<T> expected, \
                                       std::type_identity_t<T> desired) {            \
    const T old = simt::atomic_compare_exchange(address, expected, desired);         \
    __asm__ volatile("");                                                            \
    return old;                                                                      \
  }
SIMT_ATOMIC_CAS(atomicCAS, int, unsigned, unsigned long long, unsigned short)
SIMT_ATOMIC_CAS(atomicCAS_block, int, unsigned, unsigned long long)
SIMT_ATOMIC_CAS(atomicCAS_system, int, unsigned, unsigned long long)
#undef SIMT_ATOMIC_CAS

[[gnu::always_inline]] inline void __threadfence() {
  simt::thread_fence();
}
[[gnu::always_inline]] inline void __threadfence_block() {
  simt::thread_fence();
}
[[gnu::always_inline]] inline void __threadfence_system() {
  simt::thread_fence();
}

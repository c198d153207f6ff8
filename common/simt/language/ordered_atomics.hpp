// nvcc's own atomic functions that name a memory order and a scope (CUDA 12.8): a relaxed operation with fences around it.
#pragma once

#include <concepts>
#include <type_traits>

#include "common/simt/language/atomics.hpp"

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

#define SIMT_HERE [[gnu::always_inline]] inline
namespace simt {

/// Without clusters a block is one.
constexpr Scope scope_of(int scope) {
  return scope <= __NV_THREAD_SCOPE_CLUSTER ? Scope::block : Scope::device;
}
SIMT_HERE void fence_before(int order, int scope) {
  if (order >= __NV_ATOMIC_RELEASE) thread_fence(scope_of(scope));
}
SIMT_HERE void fence_after(int order, int scope) {
  if (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE) thread_fence(scope_of(scope));
}

/// The type of the same size for which the operations are there.
template <class T>
using AtomicNumber = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>,
                       std::conditional_t<std::is_signed_v<T>, int, unsigned>>>;
/// Where the sign makes no difference. 16 bytes: of anything.
template <class T>
using AtomicBits = std::conditional_t<sizeof(T) == 16, Wide,
                                      std::conditional_t<sizeof(T) == 8, unsigned long long,
                                                         std::conditional_t<sizeof(T) == 2, unsigned short, unsigned>>>;
template <class T>
using AtomicSum = std::conditional_t<std::is_floating_point_v<T>, T, AtomicBits<T>>;

template <class To, class From>
SIMT_HERE To bits_to(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

/// By a comparison that changes nothing, by which threads wait as they do by any atomic.
template <class T>
SIMT_HERE T ordered_load(const T* address, int order, int scope) {
  using Bits = AtomicBits<T>;
  if (order == __NV_ATOMIC_SEQ_CST) thread_fence(scope_of(scope));
  const T value = bits_to<T>(
      atomic_compare_exchange(reinterpret_cast<Bits*>(const_cast<T*>(address)), Bits{}, Bits{}, scope_of(scope)));
  note_result_used(address);
  fence_after(order, scope);
  return value;
}
template <class T>
SIMT_HERE T ordered_exchange(T* address, const T& value, int order, int scope) {
  using Bits = AtomicBits<T>;
  fence_before(order, scope);
  const T old = bits_to<T>(
      result(address, atomic_exchange(reinterpret_cast<Bits*>(address), bits_to<Bits>(value), scope_of(scope))));
  fence_after(order, scope);
  return old;
}
template <class T>
SIMT_HERE void ordered_store(T* address, const T& value, int order, int scope) {
  using Bits = AtomicBits<T>;
  fence_before(order, scope);
  atomic_exchange(reinterpret_cast<Bits*>(address), bits_to<Bits>(value), scope_of(scope));
  __asm__ volatile("");  // no jump
}
template <class T>
SIMT_HERE bool compare_exchange(T* address, T* expected, T desired, int success, int failure, int scope) {
  using Bits = AtomicBits<T>;
  fence_before(success, scope);
  const Bits old = atomic_compare_exchange(reinterpret_cast<Bits*>(address), bits_to<Bits>(*expected),
                                           bits_to<Bits>(desired), scope_of(scope));
  note_result_used(address);
  const bool equal = __builtin_memcmp(&old, expected, sizeof old) == 0;
  if (!equal) *expected = bits_to<T>(old);
  fence_after(equal ? success : failure, scope);
  return equal;
}

}  // namespace simt

// Those that end with _n are for integers, the others for what has as many bytes as one.
template <std::integral T>
SIMT_HERE T __nv_atomic_load_n(const T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return simt::ordered_load(address, order, scope);
}
template <class T>
SIMT_HERE void __nv_atomic_load(const T* address, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *value = simt::ordered_load(address, order, scope);
}
template <std::integral T>
SIMT_HERE void __nv_atomic_store_n(T* address, std::type_identity_t<T> value, int order,
                                   int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::ordered_store(address, value, order, scope);
}
template <class T>
SIMT_HERE void __nv_atomic_store(T* address, const T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::ordered_store(address, *value, order, scope);
}
template <std::integral T>
SIMT_HERE T __nv_atomic_exchange_n(T* address, std::type_identity_t<T> value, int order,
                                   int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return simt::ordered_exchange(address, value, order, scope);
}
template <class T>
SIMT_HERE void __nv_atomic_exchange(T* address, const T* value, T* old, int order,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *old = simt::ordered_exchange(address, *value, order, scope);
}
template <std::integral T>
SIMT_HERE bool __nv_atomic_compare_exchange_n(T* address, T* expected, std::type_identity_t<T> desired, bool,
                                              int success, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return simt::compare_exchange(address, expected, desired, success, failure, scope);
}
template <class T>
SIMT_HERE bool __nv_atomic_compare_exchange(T* address, T* expected, const T* desired, bool, int success, int failure,
                                            int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return simt::compare_exchange(address, expected, *desired, success, failure, scope);
}

// Each with and without its result.
#define SIMT_ORDERED(name, operation, Number, value_of)                                                        \
  template <class T>                                                                                           \
  SIMT_HERE T __nv_atomic_fetch_##name(T* address, std::type_identity_t<T> value, int order,                   \
                                       int scope = __NV_THREAD_SCOPE_SYSTEM) {                                 \
    using Word = simt::Number<T>;                                                                              \
    simt::fence_before(order, scope);                                                                          \
    const Word old = simt::operation(reinterpret_cast<Word*>(address), Word(value_of), simt::scope_of(scope)); \
    const T as_was = static_cast<T>(simt::result(address, old));                                               \
    simt::fence_after(order, scope);                                                                           \
    return as_was;                                                                                             \
  }                                                                                                            \
  template <class T>                                                                                           \
  SIMT_HERE void __nv_atomic_##name(T* address, std::type_identity_t<T> value, int order,                      \
                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {                                    \
    __nv_atomic_fetch_##name(address, value, order, scope);                                                    \
  }
SIMT_ORDERED(add, atomic_add, AtomicSum, value)
SIMT_ORDERED(sub, atomic_add, AtomicSum, -value)
SIMT_ORDERED(min, atomic_min, AtomicNumber, value)
SIMT_ORDERED(max, atomic_max, AtomicNumber, value)
SIMT_ORDERED(and, atomic_and, AtomicBits, value)
SIMT_ORDERED(or, atomic_or, AtomicBits, value)
SIMT_ORDERED(xor, atomic_xor, AtomicBits, value)
#undef SIMT_ORDERED

SIMT_HERE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED) simt::thread_fence(simt::scope_of(scope));
}
#undef SIMT_HERE

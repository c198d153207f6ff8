// CUDA's atomic functions, on every type that has them; those on half and bfloat16 are in cuda_fp16.h and cuda_bf16.h.
// The operations are in atomics.cpp, which reports each with the place that it returns to: these shims are always
// inlined, so that this is a place in the kernel.
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/simt/language/access.hpp"
#include "common/simt/language/types.hpp"

namespace simt {

// Each returns the old value.
template <class T>
T atomic_add(T* address, T value, Scope scope);
template <class T>
T atomic_sub(T* address, T value, Scope scope);
template <class T>
T atomic_exchange(T* address, T value, Scope scope);
template <class T>
T atomic_min(T* address, T value, Scope scope);
template <class T>
T atomic_max(T* address, T value, Scope scope);
template <class T>
T atomic_and(T* address, T value, Scope scope);
template <class T>
T atomic_or(T* address, T value, Scope scope);
template <class T>
T atomic_xor(T* address, T value, Scope scope);
template <class T>
T atomic_increment(T* address, T limit, Scope scope);
template <class T>
T atomic_decrement(T* address, T limit, Scope scope);
template <class T>
T atomic_compare_exchange(T* address, T expected, T desired, Scope scope);

/// 128 bits of anything.
struct alignas(16) Wide {
  std::uint64_t half[2];
};
template <class T>
[[gnu::always_inline]] inline Wide* wide_at(T* address) {
  return reinterpret_cast<Wide*>(address);
}
Wide atomic_exchange(Wide* address, const Wide& value, Scope scope);
Wide atomic_compare_exchange(Wide* address, const Wide& expected, const Wide& desired, Scope scope);

/// One operation on `bytes` bytes in pieces of 2 or 4, of which each is replaced at once: combine(piece, that of value).
using Combine = void (*)(void* piece, const void* value);
void atomic_apply(void* address, std::size_t bytes, std::size_t piece, const void* value, Combine combine, void* old,
                  Scope scope);

void thread_fence(Scope scope);

template <class T, class... Types>
concept OneOf = (std::is_same_v<T, Types> || ...);

template <class T>
concept Quad = sizeof(T) == 16 && alignof(T) >= 16;

/// The old value, for the kernel to use or not. The empty asm statement keeps the call before it from becoming a jump,
/// whose return address would be the kernel's caller.
template <class T>
[[gnu::always_inline]] inline T result(const void* address, T old) {
  __asm__ volatile("");
  if constexpr (sizeof(T) > 8 || !std::is_trivially_copyable_v<T>) {
    note_result_used(address);  // or not
    return old;
  } else {
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    return __builtin_bit_cast(T, static_cast<Bits>(note_result(address, __builtin_bit_cast(Bits, old))));
  }
}

/// atomicAdd for a type of several floats, or of its own.
template <class T, class Piece>
[[gnu::always_inline]] inline T add_pieces(T* address, T value, Scope scope) {
  T old;
  atomic_apply(
      address, sizeof(T), sizeof(Piece), &value,
      [](void* piece, const void* addend) {
        auto& sum = *static_cast<Piece*>(piece);
        sum = sum + *static_cast<const Piece*>(addend);
      },
      &old, scope);
  return result(address, old);
}

}  // namespace simt

#define SIMT_IN_SCOPES(form, name, ...)                                                                \
  form(name, ::simt::Scope::device, __VA_ARGS__) form(name##_block, ::simt::Scope::block, __VA_ARGS__) \
      form(name##_system, ::simt::Scope::device, __VA_ARGS__)

#define SIMT_ATOMIC(name, scope, operation, ...)                                    \
  template <simt::OneOf<__VA_ARGS__> T>                                             \
  [[gnu::always_inline]] inline T name(T* address, std::type_identity_t<T> value) { \
    return simt::result(address, simt::operation(address, value, scope));           \
  }
// The types for which CUDA has them.
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicAdd, atomic_add, int, unsigned, unsigned long long, float, double)
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicSub, atomic_sub, int, unsigned)
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicExch, atomic_exchange, int, unsigned, unsigned long long, float)
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicMin, atomic_min, int, unsigned, long long, unsigned long long)
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicMax, atomic_max, int, unsigned, long long, unsigned long long)
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicAnd, atomic_and, int, unsigned, long long, unsigned long long)
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicOr, atomic_or, int, unsigned, long long, unsigned long long)
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicXor, atomic_xor, int, unsigned, long long, unsigned long long)
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicInc, atomic_increment, unsigned)
SIMT_IN_SCOPES(SIMT_ATOMIC, atomicDec, atomic_decrement, unsigned)
#undef SIMT_ATOMIC

#define SIMT_ATOMIC_CAS(name, scope, ...)                                                           \
  template <simt::OneOf<__VA_ARGS__> T>                                                             \
  [[gnu::always_inline]] inline T name(T* address, std::type_identity_t<T> expected,                \
                                       std::type_identity_t<T> desired) {                           \
    return simt::result(address, simt::atomic_compare_exchange(address, expected, desired, scope)); \
  }
SIMT_IN_SCOPES(SIMT_ATOMIC_CAS, atomicCAS, int, unsigned, unsigned long long, unsigned short)
#undef SIMT_ATOMIC_CAS

// 128 bits of any type (sm_90).
#define SIMT_ATOMIC_QUAD(name, scope, T)                                                                    \
  template <simt::Quad T>                                                                                   \
  [[gnu::always_inline]] inline T name(T* address, std::type_identity_t<T> expected,                        \
                                       std::type_identity_t<T> desired) {                                   \
    const simt::Wide old = simt::atomic_compare_exchange(simt::wide_at(address), *simt::wide_at(&expected), \
                                                         *simt::wide_at(&desired), scope);                  \
    return simt::result(address, *reinterpret_cast<const T*>(&old));                                        \
  }
SIMT_IN_SCOPES(SIMT_ATOMIC_QUAD, atomicCAS, T)
#undef SIMT_ATOMIC_QUAD
#define SIMT_ATOMIC_QUAD(name, scope, T)                                                                 \
  template <simt::Quad T>                                                                                \
  [[gnu::always_inline]] inline T name(T* address, std::type_identity_t<T> value) {                      \
    const simt::Wide old = simt::atomic_exchange(simt::wide_at(address), *simt::wide_at(&value), scope); \
    return simt::result(address, *reinterpret_cast<const T*>(&old));                                     \
  }
SIMT_IN_SCOPES(SIMT_ATOMIC_QUAD, atomicExch, T)
#undef SIMT_ATOMIC_QUAD

// Of each element by itself.
#define SIMT_ATOMIC_PIECES(name, scope, T, Piece)             \
  [[gnu::always_inline]] inline T name(T* address, T value) { \
    return simt::add_pieces<T, Piece>(address, value, scope); \
  }
SIMT_IN_SCOPES(SIMT_ATOMIC_PIECES, atomicAdd, float2, float)
SIMT_IN_SCOPES(SIMT_ATOMIC_PIECES, atomicAdd, float4, float)

[[gnu::always_inline]] inline void __threadfence() {
  simt::thread_fence(simt::Scope::device);
}
[[gnu::always_inline]] inline void __threadfence_block() {
  simt::thread_fence(simt::Scope::block);
}
[[gnu::always_inline]] inline void __threadfence_system() {
  simt::thread_fence(simt::Scope::device);
}

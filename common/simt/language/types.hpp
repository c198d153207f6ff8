// CUDA's built-in vector types, with CUDA's sizes and alignments, and their make_ functions.
//
// A GPU moves a float4 with one 128-bit access. g++ would copy it member by member, whenever it thinks that better. So
// these types copy themselves through one register of their own width, which an empty asm statement keeps whole.
// Everything is always inlined: a copy made in a function that the linker takes from a unit without hooks would not be
// seen. The price: these types are not trivially copyable (no std::bit_cast; in unions common/cmake/preprocessed.py puts
// simt_plain instead) and not aggregates (designated initialisers: the same file). Default construction is trivial, as
// __shared__ needs it.
#pragma once

#include <cstdint>

namespace simt {

#if defined(__aarch64__)
#define SIMT_VECTOR_REGISTER "+w"
#else
#define SIMT_VECTOR_REGISTER "+x"
#endif

// copyN(to, from): one load and one store of N bytes. The types may alias all others, as characters do.
#define SIMT_COPY(name, attributes, Word, constraint)                              \
  [[gnu::always_inline]] inline void name(void* to, const void* from) {            \
    typedef Word Whole __attribute__((may_alias)) attributes;                      \
    Whole whole = *static_cast<const Whole*>(from);                                \
    __asm__("" : constraint(whole)); /* what is loaded whole is not taken apart */ \
    *static_cast<Whole*>(to) = whole;                                              \
  }
SIMT_COPY(copy2, , std::uint16_t, "+r")
SIMT_COPY(copy4, , std::uint32_t, "+r")
SIMT_COPY(copy8, , std::uint64_t, "+r")
SIMT_COPY(copy16, __attribute__((vector_size(16))), float, SIMT_VECTOR_REGISTER)
#undef SIMT_COPY

/// CUDA's four-component types of 32 bytes are aligned to 16: the widest access that they can count on.
[[gnu::always_inline]] inline void copy32(void* to, const void* from) {
  copy16(to, from);
  copy16(static_cast<char*>(to) + 16, static_cast<const char*>(from) + 16);
}

/// One value in braces, as in `float4 v = {0}`. A scalar alone would need two conversions, and so becomes no vector.
template <class T>
struct Alone {
  T value;
  [[gnu::always_inline]] constexpr Alone(T value_) : value(value_) {}
};

/// The same without code that copies: what a union holds, which shall be copied as a whole.
#define SIMT_PLAIN(name, ...)                                                                                \
  template <class T, class Vector>                                                                           \
  struct alignas(Vector) name {                                                                              \
    T __VA_ARGS__;                                                                                           \
    [[gnu::always_inline]] Vector* operator&() { return reinterpret_cast<Vector*>(this); }                   \
    [[gnu::always_inline]] const Vector* operator&() const { return reinterpret_cast<const Vector*>(this); } \
    [[gnu::always_inline]] operator Vector&() { return *operator&(); }                                       \
    [[gnu::always_inline]] operator const Vector&() const { return *operator&(); }                           \
  };
SIMT_PLAIN(Plain2, x, y)
SIMT_PLAIN(Plain3, x, y, z)
SIMT_PLAIN(Plain4, x, y, z, w)
#undef SIMT_PLAIN

}  // namespace simt

// Two and four components: `copy` moves them, but when the compiler computes a constant.
#define SIMT_VECTOR2(Name, T, align, copy)                                           \
  struct alignas(align) Name {                                                       \
    T x, y;                                                                          \
    Name() = default;                                                                \
    using simt_plain = ::simt::Plain2<T, Name>;                                      \
    [[gnu::always_inline]] constexpr operator simt_plain() const {                   \
      if (__builtin_is_constant_evaluated()) return {x, y};                          \
      simt_plain same;                                                               \
      ::simt::copy(&same, this);                                                     \
      return same;                                                                   \
    }                                                                                \
    [[gnu::always_inline]] constexpr Name(::simt::Alone<T> x_) : x(x_.value), y() {} \
    [[gnu::always_inline]] constexpr Name(T x_, T y_) : x(x_), y(y_) {}              \
    [[gnu::always_inline]] constexpr Name(const Name& other) { *this = other; }      \
    [[gnu::always_inline]] constexpr Name& operator=(const Name& other) {            \
      if (__builtin_is_constant_evaluated()) {                                       \
        x = other.x, y = other.y;                                                    \
      } else {                                                                       \
        ::simt::copy(this, &other);                                                  \
      }                                                                              \
      return *this;                                                                  \
    }                                                                                \
  };                                                                                 \
  static_assert(sizeof(Name) == 2 * sizeof(T) && alignof(Name) == align);            \
  [[gnu::always_inline]] constexpr Name make_##Name(T x, T y) {                      \
    return {x, y};                                                                   \
  }

#define SIMT_VECTOR4(Name, T, align, copy)                                                                  \
  struct alignas(align) Name {                                                                              \
    T x, y, z, w;                                                                                           \
    Name() = default;                                                                                       \
    using simt_plain = ::simt::Plain4<T, Name>;                                                             \
    [[gnu::always_inline]] constexpr operator simt_plain() const {                                          \
      if (__builtin_is_constant_evaluated()) return {x, y, z, w};                                           \
      simt_plain same;                                                                                      \
      ::simt::copy(&same, this);                                                                            \
      return same;                                                                                          \
    }                                                                                                       \
    [[gnu::always_inline]] constexpr Name(::simt::Alone<T> x_) : x(x_.value), y(), z(), w() {}              \
    [[gnu::always_inline]] constexpr Name(T x_, T y_, T z_ = {}, T w_ = {}) : x(x_), y(y_), z(z_), w(w_) {} \
    [[gnu::always_inline]] constexpr Name(const Name& other) { *this = other; }                             \
    [[gnu::always_inline]] constexpr Name& operator=(const Name& other) {                                   \
      if (__builtin_is_constant_evaluated()) {                                                              \
        x = other.x, y = other.y, z = other.z, w = other.w;                                                 \
      } else {                                                                                              \
        ::simt::copy(this, &other);                                                                         \
      }                                                                                                     \
      return *this;                                                                                         \
    }                                                                                                       \
  };                                                                                                        \
  static_assert(sizeof(Name) == 4 * sizeof(T) && alignof(Name) == align);                                   \
  [[gnu::always_inline]] constexpr Name make_##Name(T x, T y, T z, T w) {                                   \
    return {x, y, z, w};                                                                                    \
  }

// Three components are aligned as one: three accesses, on a GPU too.
#define SIMT_VECTOR3(Name, T)                                                                        \
  struct Name {                                                                                      \
    T x, y, z;                                                                                       \
    Name() = default;                                                                                \
    using simt_plain = ::simt::Plain3<T, Name>;                                                      \
    [[gnu::always_inline]] constexpr operator simt_plain() const { return {x, y, z}; }               \
    [[gnu::always_inline]] constexpr Name(::simt::Alone<T> x_) : x(x_.value), y(), z() {}            \
    [[gnu::always_inline]] constexpr Name(T x_, T y_, T z_ = {}) : x(x_), y(y_), z(z_) {}            \
    [[gnu::always_inline]] constexpr Name(const Name& other) : x(other.x), y(other.y), z(other.z) {} \
    [[gnu::always_inline]] constexpr Name& operator=(const Name& other) {                            \
      x = other.x, y = other.y, z = other.z;                                                         \
      return *this;                                                                                  \
    }                                                                                                \
  };                                                                                                 \
  static_assert(sizeof(Name) == 3 * sizeof(T) && alignof(Name) == alignof(T));                       \
  [[gnu::always_inline]] constexpr Name make_##Name(T x, T y, T z) {                                 \
    return {x, y, z};                                                                                \
  }

#define SIMT_VECTOR1(Name, T)                                              \
  struct Name {                                                            \
    T x;                                                                   \
  };                                                                       \
  static_assert(sizeof(Name) == sizeof(T) && alignof(Name) == alignof(T)); \
  [[gnu::always_inline]] constexpr Name make_##Name(T x) {                 \
    return {x};                                                            \
  }

// For components of 1, 2, 4 and 8 bytes.
#define SIMT_VECTORS_1(name, T)      \
  SIMT_VECTOR1(name##1, T)           \
  SIMT_VECTOR2(name##2, T, 2, copy2) \
  SIMT_VECTOR3(name##3, T)           \
  SIMT_VECTOR4(name##4, T, 4, copy4)
#define SIMT_VECTORS_2(name, T)      \
  SIMT_VECTOR1(name##1, T)           \
  SIMT_VECTOR2(name##2, T, 4, copy4) \
  SIMT_VECTOR3(name##3, T)           \
  SIMT_VECTOR4(name##4, T, 8, copy8)
#define SIMT_VECTORS_4(name, T)      \
  SIMT_VECTOR1(name##1, T)           \
  SIMT_VECTOR2(name##2, T, 8, copy8) \
  SIMT_VECTOR3(name##3, T)           \
  SIMT_VECTOR4(name##4, T, 16, copy16)
#define SIMT_VECTORS_8(name, T)        \
  SIMT_VECTOR1(name##1, T)             \
  SIMT_VECTOR2(name##2, T, 16, copy16) \
  SIMT_VECTOR3(name##3, T)             \
  SIMT_VECTOR4(name##4, T, 16, copy32)

SIMT_VECTORS_1(char, signed char)
SIMT_VECTORS_1(uchar, unsigned char)
SIMT_VECTORS_2(short, short)
SIMT_VECTORS_2(ushort, unsigned short)
SIMT_VECTORS_4(int, int)
SIMT_VECTORS_4(uint, unsigned)
SIMT_VECTORS_8(long, long)
SIMT_VECTORS_8(ulong, unsigned long)
SIMT_VECTORS_8(longlong, long long)
SIMT_VECTORS_8(ulonglong, unsigned long long)
SIMT_VECTORS_4(float, float)
SIMT_VECTORS_8(double, double)

#undef SIMT_VECTORS_1
#undef SIMT_VECTORS_2
#undef SIMT_VECTORS_4
#undef SIMT_VECTORS_8
#undef SIMT_VECTOR1
#undef SIMT_VECTOR2
#undef SIMT_VECTOR3
#undef SIMT_VECTOR4

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

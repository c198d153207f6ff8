// CUDA's functions for dynamic programming (DPX): the larger or smaller of two or three numbers, of sums, not below
// zero. The numbers are whole words, or the halves of a word.
#pragma once

#include <cstdint>
#include <type_traits>

namespace simt {

/// operation() of each part of the words, as Parts. `part` is 0 for the lowest.
template <class Part, class Operation, class... Words>
[[gnu::always_inline]] constexpr unsigned each_number(Operation operation, Words... words) {
  unsigned result = 0;
  for (unsigned part = 0; part < 4 / sizeof(Part); ++part) {
    const unsigned at = 8 * sizeof(Part) * part;
    const auto value = static_cast<std::make_unsigned_t<Part>>(
        operation(part, static_cast<Part>(static_cast<unsigned>(words) >> at)...));
    result |= static_cast<unsigned>(value) << at;
  }
  return result;
}

// `a + b` of two Parts, without overflow.
template <class Part>
[[gnu::always_inline]] constexpr Part wrapped_sum(Part a, Part b) {
  return static_cast<Part>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

}  // namespace simt

// Templates, because a compilation instantiates what a plain inline function calls, whether or not a kernel calls that.
#define SIMT_NUMBERS_2(name, Word, Part, value)                           \
  template <class = void>                                                 \
  [[gnu::always_inline]] constexpr Word name(Word a, Word b) {            \
    return static_cast<Word>(simt::each_number<Part>(                     \
        [](unsigned, Part x, Part y) constexpr { return value; }, a, b)); \
  }
#define SIMT_NUMBERS_3(name, Word, Part, value)                                      \
  template <class = void>                                                            \
  [[gnu::always_inline]] constexpr Word name(Word a, Word b, Word c) {               \
    return static_cast<Word>(simt::each_number<Part>(                                \
        [](unsigned, Part x, Part y, Part z) constexpr { return value; }, a, b, c)); \
  }
// `sign` says which of two is taken. The forms that tell which one it was come below.
#define SIMT_MOST(name, form, Word, Part, sign)                                               \
  SIMT_NUMBERS_3(__vi##name##3_##form, Word, Part, SIMT_TAKE(SIMT_TAKE(x, y, sign), z, sign)) \
  SIMT_NUMBERS_3(__viadd##name##_##form, Word, Part, SIMT_TAKE(simt::wrapped_sum(x, y), z, sign))
#define SIMT_MOST_NOT_NEGATIVE(name, form, Word, Part, sign)                                           \
  SIMT_NUMBERS_2(__vi##name##_##form##_relu, Word, Part, SIMT_TAKE(SIMT_TAKE(x, y, sign), Part{0}, >)) \
  SIMT_NUMBERS_3(__vi##name##3_##form##_relu, Word, Part,                                              \
                 SIMT_TAKE(SIMT_TAKE(SIMT_TAKE(x, y, sign), z, sign), Part{0}, >))                     \
  SIMT_NUMBERS_3(__viadd##name##_##form##_relu, Word, Part,                                            \
                 SIMT_TAKE(SIMT_TAKE(simt::wrapped_sum(x, y), z, sign), Part{0}, >))
#define SIMT_TAKE(x, y, sign) ((x)sign(y) ? (x) : (y))
#define SIMT_BOTH(name, sign)                                       \
  SIMT_MOST(name, s32, int, std::int32_t, sign)                     \
  SIMT_MOST(name, u32, unsigned, std::uint32_t, sign)               \
  SIMT_MOST(name, s16x2, unsigned, std::int16_t, sign)              \
  SIMT_MOST(name, u16x2, unsigned, std::uint16_t, sign)             \
  SIMT_MOST_NOT_NEGATIVE(name, s32, int, std::int32_t, sign)        \
  SIMT_MOST_NOT_NEGATIVE(name, s16x2, unsigned, std::int16_t, sign) \
  SIMT_WHICH(name, s32, int, sign)                                  \
  SIMT_WHICH(name, u32, unsigned, sign)                             \
  SIMT_WHICH_OF_HALVES(name, s16x2, std::int16_t, sign)             \
  SIMT_WHICH_OF_HALVES(name, u16x2, std::uint16_t, sign)
#define SIMT_WHICH(name, form, Word, sign)                                                     \
  [[gnu::always_inline]] constexpr Word __vib##name##_##form(Word a, Word b, bool* is_first) { \
    *is_first = a sign## = b;                                                                  \
    return *is_first ? a : b;                                                                  \
  }
#define SIMT_WHICH_OF_HALVES(name, form, Part, sign)                                                              \
  template <class = void>                                                                                         \
  [[gnu::always_inline]] constexpr unsigned __vib##name##_##form(unsigned a, unsigned b, bool* high, bool* low) { \
    return simt::each_number<Part>(                                                                               \
        [=](unsigned part, Part x, Part y) constexpr {                                                            \
          bool& is_first = *(part ? high : low);                                                                  \
          is_first = x sign## = y;                                                                                \
          return is_first ? x : y;                                                                                \
        },                                                                                                        \
        a, b);                                                                                                    \
  }
SIMT_BOTH(max, >)
SIMT_BOTH(min, <)
#undef SIMT_BOTH
#undef SIMT_TAKE
#undef SIMT_WHICH_OF_HALVES
#undef SIMT_WHICH
#undef SIMT_MOST_NOT_NEGATIVE
#undef SIMT_MOST
#undef SIMT_NUMBERS_3
#undef SIMT_NUMBERS_2

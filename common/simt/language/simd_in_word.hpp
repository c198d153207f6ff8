// CUDA's functions on the two halves or the four bytes of a word: __vadd4(a, b), and so on.
#pragma once

#include <cstdint>
#include <type_traits>

namespace simt {

/// operation() of each pair of Parts of a and b, as numbers; of the result the lowest bits are kept.
template <class Part, class Operation>
[[gnu::always_inline]] constexpr unsigned each_part(unsigned a, unsigned b, Operation operation) {
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(Part)) {
    const int value =
        operation(static_cast<int>(static_cast<Part>(a >> at)), static_cast<int>(static_cast<Part>(b >> at)));
    result |= static_cast<unsigned>(static_cast<std::make_unsigned_t<Part>>(value)) << at;
  }
  return result;
}
/// The sum of operation() of each pair.
template <class Part, class Operation>
[[gnu::always_inline]] constexpr unsigned sum_of_parts(unsigned a, unsigned b, Operation operation) {
  unsigned sum = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(Part)) {
    sum += static_cast<unsigned>(
        operation(static_cast<int>(static_cast<Part>(a >> at)), static_cast<int>(static_cast<Part>(b >> at))));
  }
  return sum;
}
/// x, or the nearest number that a Part can hold.
template <class Part>
[[gnu::always_inline]] constexpr int limited(int x) {
  constexpr int bits = 8 * sizeof(Part);
  constexpr int most = std::is_signed_v<Part> ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  constexpr int least = std::is_signed_v<Part> ? -most - 1 : 0;
  return x > most ? most : x < least ? least : x;
}

}  // namespace simt

// S and U: the signed and the unsigned part, of which a word holds `n`. The functions are templates, because a compilation
// instantiates what a plain inline function calls, whether or not a kernel calls that.
#define SIMT_OF_TWO(name, Part, value)                                     \
  template <class = void>                                                  \
  [[gnu::always_inline]] constexpr unsigned name(unsigned a, unsigned b) { \
    return simt::each_part<Part>(                                          \
        a, b, [](int x, int y) constexpr { return value; });               \
  }
#define SIMT_OF_ONE(name, Part, value)                         \
  template <class = void>                                      \
  [[gnu::always_inline]] constexpr unsigned name(unsigned a) { \
    return simt::each_part<Part>(                              \
        a, 0u, [](int x, int) constexpr { return value; });    \
  }
#define SIMT_SUM(name, Part, value)                                        \
  template <class = void>                                                  \
  [[gnu::always_inline]] constexpr unsigned name(unsigned a, unsigned b) { \
    return simt::sum_of_parts<Part>(                                       \
        a, b, [](int x, int y) constexpr { return value; });               \
  }
// A comparison gives all bits of the part (cmp), or 1 (set).
#define SIMT_COMPARE(name, n, Part, sign)                 \
  SIMT_OF_TWO(__vcmp##name##n, Part, (x sign y ? -1 : 0)) \
  SIMT_OF_TWO(__vset##name##n, Part, (x sign y ? 1 : 0))
#define SIMT_PARTS(n, S, U)                                     \
  SIMT_OF_TWO(__vadd##n, U, x + y)                              \
  SIMT_OF_TWO(__vaddss##n, S, simt::limited<S>(x + y))          \
  SIMT_OF_TWO(__vaddus##n, U, simt::limited<U>(x + y))          \
  SIMT_OF_TWO(__vsub##n, U, x - y)                              \
  SIMT_OF_TWO(__vsubss##n, S, simt::limited<S>(x - y))          \
  SIMT_OF_TWO(__vsubus##n, U, simt::limited<U>(x - y))          \
  SIMT_OF_TWO(__vabsdiffs##n, S, (x > y ? x - y : y - x))       \
  SIMT_OF_TWO(__vabsdiffu##n, U, (x > y ? x - y : y - x))       \
  SIMT_OF_TWO(__vavgs##n, S, (x + y + (x + y >= 0)) >> 1)       \
  SIMT_OF_TWO(__vavgu##n, U, (x + y + 1) >> 1)                  \
  SIMT_OF_TWO(__vhaddu##n, U, (x + y) >> 1)                     \
  SIMT_OF_TWO(__vmaxs##n, S, (x > y ? x : y))                   \
  SIMT_OF_TWO(__vmaxu##n, U, (x > y ? x : y))                   \
  SIMT_OF_TWO(__vmins##n, S, (x < y ? x : y))                   \
  SIMT_OF_TWO(__vminu##n, U, (x < y ? x : y))                   \
  SIMT_OF_ONE(__vabs##n, S, (x < 0 ? -x : x))                   \
  SIMT_OF_ONE(__vabsss##n, S, simt::limited<S>(x < 0 ? -x : x)) \
  SIMT_OF_ONE(__vneg##n, S, -x)                                 \
  SIMT_OF_ONE(__vnegss##n, S, simt::limited<S>(-x))             \
  SIMT_SUM(__vsads##n, S, (x > y ? x - y : y - x))              \
  SIMT_SUM(__vsadu##n, U, (x > y ? x - y : y - x))              \
  SIMT_COMPARE(eq, n, U, ==)                                    \
  SIMT_COMPARE(ne, n, U, !=)                                    \
  SIMT_COMPARE(ges, n, S, >=)                                   \
  SIMT_COMPARE(geu, n, U, >=)                                   \
  SIMT_COMPARE(gts, n, S, >)                                    \
  SIMT_COMPARE(gtu, n, U, >)                                    \
  SIMT_COMPARE(les, n, S, <=)                                   \
  SIMT_COMPARE(leu, n, U, <=)                                   \
  SIMT_COMPARE(lts, n, S, <)                                    \
  SIMT_COMPARE(ltu, n, U, <)
SIMT_PARTS(2, std::int16_t, std::uint16_t)
SIMT_PARTS(4, std::int8_t, std::uint8_t)
#undef SIMT_PARTS
#undef SIMT_COMPARE
#undef SIMT_SUM
#undef SIMT_OF_ONE
#undef SIMT_OF_TWO

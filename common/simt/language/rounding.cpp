#include "common/simt/language/rounding.hpp"

#include <cfenv>
#include <cmath>

namespace simt {
namespace {

int mode_of(Direction direction) {
  switch (direction) {
    case Direction::nearest:
      return FE_TONEAREST;
    case Direction::zero:
      return FE_TOWARDZERO;
    case Direction::up:
      return FE_UPWARD;
    case Direction::down:
      return FE_DOWNWARD;
  }
  return FE_TONEAREST;
}

class Rounding {
 public:
  explicit Rounding(Direction direction) : before_(std::fegetround()) { std::fesetround(mode_of(direction)); }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  int before_;
};

}  // namespace

// Operands and results are volatile: g++ would else compute before the mode is set, or after it is set back.
template <class T>
T add(T a, T b, Direction direction) noexcept {
  const volatile T x = a, y = b;
  const Rounding rounding(direction);
  const volatile T result = x + y;
  return result;
}
template <class T>
T subtract(T a, T b, Direction direction) noexcept {
  return add(a, -b, direction);
}
template <class T>
T multiply(T a, T b, Direction direction) noexcept {
  const volatile T x = a, y = b;
  const Rounding rounding(direction);
  const volatile T result = x * y;
  return result;
}
template <class T>
T divide(T a, T b, Direction direction) noexcept {
  const volatile T x = a, y = b;
  const Rounding rounding(direction);
  const volatile T result = x / y;
  return result;
}
template <class T>
T square_root(T a, Direction direction) noexcept {
  const volatile T x = a;
  const Rounding rounding(direction);
  const volatile T result = std::sqrt(x);
  return result;
}
template <class T>
T multiply_add(T a, T b, T c, Direction direction) noexcept {
  const volatile T x = a, y = b, z = c;
  const Rounding rounding(direction);
  const volatile T result = std::fma(x, y, z);
  return result;
}
template <class To, class From>
To convert(From x, Direction direction) noexcept {
  const volatile From from = x;
  const Rounding rounding(direction);
  const volatile To result = static_cast<To>(from);
  return result;
}

#define SIMT_INSTANCES(T)                               \
  template T add(T, T, Direction) noexcept;             \
  template T subtract(T, T, Direction) noexcept;        \
  template T multiply(T, T, Direction) noexcept;        \
  template T divide(T, T, Direction) noexcept;          \
  template T square_root(T, Direction) noexcept;        \
  template T multiply_add(T, T, T, Direction) noexcept; \
  template T convert(long long, Direction) noexcept;    \
  template T convert(unsigned long long, Direction) noexcept;
SIMT_INSTANCES(float)
SIMT_INSTANCES(double)
template float convert(int, Direction) noexcept;
template float convert(unsigned, Direction) noexcept;
template float convert(double, Direction) noexcept;

}  // namespace simt

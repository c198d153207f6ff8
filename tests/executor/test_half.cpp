// __half and __nv_bfloat16 on the build's device, against definitions on the host: a table of all numbers of the format
// and a search for the nearest, in arithmetic wide enough to be exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/device_test.hpp"
#include "tests/executor/half_kernels.hpp"

namespace gemm {
namespace {

using namespace half_test;

#ifdef __x86_64__
using Wide = __float128;  // 113 bits; aarch64's long double is the same
#else
using Wide = long double;
#endif

constexpr double infinity = std::numeric_limits<double>::infinity();

class Numbers {
 public:
  explicit Numbers(Format format) : fraction_bits_(format == Format::half ? 10 : 7) {
    const int exponent_bits = 15 - fraction_bits_, bias = (1 << (exponent_bits - 1)) - 1;
    for (int bits = 0; bits < 1 << 15; ++bits) {
      const int exponent = bits >> fraction_bits_, fraction = bits & ((1 << fraction_bits_) - 1);
      if (exponent == (1 << exponent_bits) - 1) break;
      const int significand = exponent ? fraction + (1 << fraction_bits_) : fraction;
      values_.push_back(std::ldexp(significand, std::max(exponent, 1) - bias - fraction_bits_));
    }
    values_.push_back(std::ldexp(1, bias + 1));  // where infinity stands when it comes to rounding
  }

  std::uint16_t infinity_bits() const { return static_cast<std::uint16_t>(values_.size() - 1); }
  bool is_nan(std::uint16_t bits) const { return (bits & 0x7fff) > infinity_bits(); }

  double value(std::uint16_t bits) const {
    const int magnitude = bits & 0x7fff;
    const double x = is_nan(bits) ? std::nan("") : magnitude == infinity_bits() ? infinity : values_[magnitude];
    return bits & 0x8000 ? -x : x;
  }

  // Where the next number up or down in magnitude is, as rounding sees it.
  double step(int magnitude) const { return values_[magnitude]; }

  std::uint16_t nearest(Wide x, bool negative_zero) const {
    if (x != x) return 0x7fff;
    const bool negative = x < 0 || (x == 0 && negative_zero);
    const Wide size = x < 0 ? -x : x;
    const std::uint16_t sign = negative ? 0x8000 : 0;
    if (size >= values_.back()) return sign | infinity_bits();
    int above = static_cast<int>(
        std::upper_bound(values_.begin(), values_.end(), size, [](Wide a, double b) { return a < b; }) -
        values_.begin());
    const int below = above - 1;
    const Wide up = values_[above] - size, down = size - values_[below];
    return sign | static_cast<std::uint16_t>(down < up || (down == up && below % 2 == 0) ? below : above);
  }

 private:
  int fraction_bits_;
  std::vector<double> values_;  // of the magnitudes, in order
};

class Half : public DeviceTest {};
class BothFormats : public DeviceTest, public testing::WithParamInterface<Format> {
 protected:
  Numbers numbers_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Half, BothFormats, testing::Values(Format::half, Format::bfloat16),
                         [](const auto& info) { return info.param == Format::half ? "half" : "bfloat16"; });

TEST_P(BothFormats, EveryNumberToFloatAndBack) {
  const std::vector<float> wide = widen_all(GetParam());
  const std::vector<std::uint16_t> back = narrow(GetParam(), Direction::nearest, wide);
  int wrong = 0;
  for (int bits = 0; bits < 65536; ++bits) {
    if (numbers_.is_nan(static_cast<std::uint16_t>(bits))) {
      wrong += !(std::isnan(wide[bits]) && back[bits] == 0x7fff);
    } else {
      const double value = numbers_.value(static_cast<std::uint16_t>(bits));
      wrong += !(wide[bits] == value && std::signbit(wide[bits]) == std::signbit(value) && back[bits] == bits);
    }
  }
  EXPECT_EQ(wrong, 0);
}

// Between each two neighbours: the middle, the floats next to it, and those next to the two.
TEST_P(BothFormats, EveryTieAndItsNeighbours) {
  std::vector<float> inputs;
  std::vector<std::uint16_t> nearest, lower, upper;
  for (int below = 0; below < numbers_.infinity_bits(); ++below) {
    const auto low = static_cast<float>(numbers_.step(below));
    const double high = numbers_.step(below + 1);
    const auto middle = static_cast<float>((low + high) / 2);
    const int even = below % 2 == 0 ? below : below + 1;
    const auto add = [&](float x, int rounded) {
      if (x <= low || x >= high) return;  // a bfloat16 subnormal: a float has few numbers there
      inputs.push_back(x);
      nearest.push_back(static_cast<std::uint16_t>(rounded));
      lower.push_back(static_cast<std::uint16_t>(below));
      upper.push_back(static_cast<std::uint16_t>(below + 1));
    };
    add(std::nextafterf(low, INFINITY), below);
    add(std::nextafterf(middle, 0), below);
    add(middle, even);
    add(std::nextafterf(middle, INFINITY), below + 1);
    if (high < std::numeric_limits<float>::max()) add(std::nextafterf(static_cast<float>(high), 0), below + 1);
  }
  const auto with_sign = [](std::vector<std::uint16_t> bits) {
    for (auto& x : bits) x |= 0x8000;
    return bits;
  };
  EXPECT_EQ(narrow(GetParam(), Direction::nearest, inputs), nearest);
  EXPECT_EQ(narrow(GetParam(), Direction::zero, inputs), lower);
  EXPECT_EQ(narrow(GetParam(), Direction::down, inputs), lower);
  EXPECT_EQ(narrow(GetParam(), Direction::up, inputs), upper);
  for (float& x : inputs) x = -x;
  EXPECT_EQ(narrow(GetParam(), Direction::nearest, inputs), with_sign(nearest));
  EXPECT_EQ(narrow(GetParam(), Direction::zero, inputs), with_sign(lower));
  EXPECT_EQ(narrow(GetParam(), Direction::down, inputs), with_sign(upper));
  EXPECT_EQ(narrow(GetParam(), Direction::up, inputs), with_sign(lower));
}

TEST_P(BothFormats, TooLargeForTheFormat) {
  constexpr float huge = std::numeric_limits<float>::max();
  const std::vector<float> inputs = {huge, -huge, INFINITY, -INFINITY, NAN, -NAN};
  const std::uint16_t inf = numbers_.infinity_bits(), max = inf - 1, minus = 0x8000;
  const auto results = [&](Direction direction) {
    auto bits = narrow(GetParam(), direction, inputs);
    for (int i : {4, 5}) EXPECT_TRUE(numbers_.is_nan(bits[i]));
    bits.resize(4);
    return bits;
  };
  using Bits = std::vector<std::uint16_t>;
  const auto signed_bits = [&](std::uint16_t bits) { return static_cast<std::uint16_t>(bits | minus); };
  EXPECT_EQ(results(Direction::nearest), (Bits{inf, signed_bits(inf), inf, signed_bits(inf)}));
  EXPECT_EQ(results(Direction::zero), (Bits{max, signed_bits(max), inf, signed_bits(inf)}));
  EXPECT_EQ(results(Direction::down), (Bits{max, signed_bits(inf), inf, signed_bits(inf)}));
  EXPECT_EQ(results(Direction::up), (Bits{inf, signed_bits(max), inf, signed_bits(inf)}));
}

TEST_P(BothFormats, ToAndFromIntegers) {
  const auto rounded = [](Direction direction, double x) {
    switch (direction) {
      case Direction::nearest:
        return std::nearbyint(x);
      case Direction::zero:
        return std::trunc(x);
      case Direction::down:
        return std::floor(x);
      case Direction::up:
        return std::ceil(x);
    }
    return x;
  };
  std::vector<int> integers = {0x7fffffff, -0x7fffffff - 1, 65504, 65519, 65520, 65536, -65520, 1 << 24 | 1};
  for (int i = -5000; i < 5000; ++i) integers.push_back(i);
  for (const Direction direction : {Direction::nearest, Direction::zero, Direction::down, Direction::up}) {
    const std::vector<int> to_int = all_to_int(GetParam(), direction);
    int wrong = 0;
    for (int bits = 0; bits < 65536; ++bits) {
      if (numbers_.is_nan(static_cast<std::uint16_t>(bits))) {
        wrong += to_int[bits] != 0;
        continue;
      }
      const double whole = rounded(direction, numbers_.value(static_cast<std::uint16_t>(bits)));
      wrong += to_int[bits] != static_cast<int>(std::clamp(whole, -2147483648.0, 2147483647.0));
    }
    EXPECT_EQ(wrong, 0) << static_cast<int>(direction);
    if (direction != Direction::nearest) continue;
    const auto bits = from_int(GetParam(), direction, integers);
    for (std::size_t i = 0; i < integers.size(); ++i) {
      EXPECT_EQ(bits[i], numbers_.nearest(integers[i], false)) << integers[i];
    }
  }
  // 4099 lies between two numbers of either format.
  const auto directed = [&](Direction direction, int x) {
    return numbers_.value(from_int(GetParam(), direction, {x})[0]);
  };
  const double low = 4096, high = GetParam() == Format::half ? 4100 : 4128;
  EXPECT_EQ(directed(Direction::zero, 4099), low);
  EXPECT_EQ(directed(Direction::zero, -4099), -low);
  EXPECT_EQ(directed(Direction::down, -4099), -high);
  EXPECT_EQ(directed(Direction::up, 4099), high);
}

// All special numbers with one another, and random ones whose exponents keep the exact result within Wide.
std::vector<std::uint16_t> triples_for(Format format) {
  std::vector<std::uint16_t> triples;
  const bool half = format == Format::half;
  const std::uint16_t inf = half ? 0x7c00 : 0x7f80, one = half ? 0x3c00 : 0x3f80;
  std::vector<std::uint16_t> special = {0,
                                        1,
                                        2,
                                        static_cast<std::uint16_t>(half ? 0x3ff : 0x7f),
                                        static_cast<std::uint16_t>(half ? 0x400 : 0x80),
                                        one,
                                        static_cast<std::uint16_t>(one + 1),
                                        static_cast<std::uint16_t>(one - 1),
                                        static_cast<std::uint16_t>(inf - 1),
                                        inf,
                                        0x7fff};
  for (std::size_t i = 0, n = special.size(); i < n; ++i) special.push_back(special[i] | 0x8000);
  for (const auto a : special) {
    for (const auto b : special) {
      // No products of subnormals of bfloat16 added to large numbers: Wide could not hold them.
      for (const auto c : half ? special : std::vector<std::uint16_t>{0, 0x8000, inf, 0x7fff}) {
        triples.insert(triples.end(), {a, b, c});
      }
    }
  }
  unsigned seed = 1;
  const auto random = [&] {
    seed = seed * 1664525u + 1013904223u;
    const unsigned bits = seed >> 16;
    if (half) return static_cast<std::uint16_t>(bits);
    return static_cast<std::uint16_t>((bits & 0x8000) | (one - (16 << 7) + (bits & 0xfff)));  // 2^-16 to 2^16
  };
  for (int i = 0; i < 100000; ++i) triples.insert(triples.end(), {random(), random(), random()});
  return triples;
}

TEST_P(BothFormats, ArithmeticIsRoundedOnce) {
  if (GetParam() == Format::bfloat16 && compute_capability() < 80) GTEST_SKIP() << "needs compute capability 8.0";
  const std::vector<std::uint16_t> triples = triples_for(GetParam());
  const Arithmetic result = arithmetic(GetParam(), triples);
  const char* names[] = {"a + b", "a - b", "a * b", "a / b", "fma", "max", "min", "|a|", "-a"};
  int wrong = 0;
  for (std::size_t i = 0; i < triples.size() / 3; ++i) {
    const std::uint16_t bits[] = {triples[3 * i], triples[3 * i + 1], triples[3 * i + 2]};
    const double a = numbers_.value(bits[0]), b = numbers_.value(bits[1]), c = numbers_.value(bits[2]);
    const bool a_nan = a != a, b_nan = b != b;
    const auto order = [&](double larger, double smaller) {  // for the signs of zero
      return larger > smaller || (larger == smaller && !std::signbit(larger));
    };
    // Signs of zero by double's own arithmetic, which has them right.
    const std::uint16_t expected[] = {
        numbers_.nearest(Wide(a) + b, std::signbit(a + b)),
        numbers_.nearest(Wide(a) - b, std::signbit(a - b)),
        numbers_.nearest(Wide(a) * b, std::signbit(a * b)),
        numbers_.nearest(Wide(a) / b, std::signbit(a / b)),
        numbers_.nearest(Wide(a) * b + c, std::signbit(std::fma(a, b, c))),
        a_nan || b_nan ? numbers_.nearest(a_nan ? b : a, std::signbit(a_nan ? b : a))
        : order(a, b)  ? bits[0]
                       : bits[1],
        a_nan || b_nan ? numbers_.nearest(a_nan ? b : a, std::signbit(a_nan ? b : a))
        : order(a, b)  ? bits[1]
                       : bits[0],
        static_cast<std::uint16_t>(bits[0] & 0x7fff),
        static_cast<std::uint16_t>(bits[0] ^ 0x8000),
    };
    for (int r = 0; r < results_per_triple && wrong < 10; ++r) {
      const std::uint16_t got = result.results[results_per_triple * i + r];
      const bool right = numbers_.is_nan(expected[r]) ? numbers_.is_nan(got) : got == expected[r];
      if (right) continue;
      ++wrong;
      ADD_FAILURE() << names[r] << " of " << a << ", " << b << ", " << c << ": " << numbers_.value(got)
                    << " instead of " << numbers_.value(expected[r]);
    }
    EXPECT_EQ(result.comparisons[i],
              (a == b) | (a != b) << 1 | (a < b) << 2 | (a <= b) << 3 | (a > b) << 4 | (a >= b) << 5)
        << a << " and " << b;
    const int of_pairs[] = {0, 0, 2, 2, 4, 4};
    for (int r = 0; r < results_of_pairs; ++r) {
      const std::uint16_t got = result.pairs[results_of_pairs * i + r], want = expected[of_pairs[r]];
      EXPECT_TRUE(numbers_.is_nan(want) ? numbers_.is_nan(got) : got == want) << r << ": " << a << ", " << b;
    }
    if (HasFailure() && i > 1000) break;  // enough is told
  }
}

// A product in the middle between two numbers, and the smallest addend there is: still it decides.
TEST_P(BothFormats, FmaSeesTheSmallestAddend) {
  if (GetParam() == Format::bfloat16 && compute_capability() < 80) GTEST_SKIP() << "needs compute capability 8.0";
  const bool half = GetParam() == Format::half;
  // (1 + 2^-5) (1 + 2^-6) = 1 + 2^-5 + 2^-6 + 2^-11 in half, (1 + 2^-4) (1 + 2^-4) = 1 + 2^-3 + 2^-8 in bfloat16.
  const int one = half ? 0x3c00 : 0x3f80;
  const auto bits = [](int x) { return static_cast<std::uint16_t>(x); };
  const std::uint16_t a = bits(half ? one + 32 : one + 8), b = bits(half ? one + 16 : one + 8);
  const std::uint16_t below = bits(half ? one + 48 : one + 16);
  const Arithmetic result = arithmetic(GetParam(), {a, b, 0, a, b, 1, a, b, 0x8001, bits(a | 0x8000), b, 1});
  const auto fma = [&](int i) { return result.results[results_per_triple * i + 4]; };
  EXPECT_EQ(fma(0), below) << "a tie, to even";
  EXPECT_EQ(fma(1), below + 1);
  EXPECT_EQ(fma(2), below);
  EXPECT_EQ(fma(3), below | 0x8000);
}

TEST_P(BothFormats, Pairs) {
  EXPECT_EQ(convert_pair(GetParam(), 1.5f, -3), (std::vector<float>{1.5f, -3, -3, 1.5f, 1.5f, -3}));
}

TEST_F(Half, Tf32RoundsTiesAway) {
  if (compute_capability() < 80) GTEST_SKIP() << "needs compute capability 8.0";
  std::vector<float> inputs = {0, -0.0f, INFINITY, -INFINITY, std::numeric_limits<float>::max()};
  std::vector<std::uint32_t> expected = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7f800000};
  for (std::uint32_t high = 0; high < 0x7f800000; high += 0x2000 * 41) {  // 19 bits that stay, 13 that go
    const auto add = [&](std::uint32_t low, std::uint32_t rounded) {
      inputs.push_back(std::bit_cast<float>(high | low));
      expected.push_back(rounded);
      inputs.push_back(-inputs.back());
      expected.push_back(rounded | 0x80000000);
    };
    add(0, high);
    add(0x0fff, high);
    add(0x1000, high + 0x2000);
    add(0x1fff, high + 0x2000);
  }
  auto both = expected;
  both.insert(both.end(), expected.begin(), expected.end());
  auto got = to_tf32(inputs);
  for (auto& bits : got) bits &= ~0x1fffu;  // PTX leaves open what is in the rest
  EXPECT_EQ(got, both);
  for (const std::uint32_t bits : to_tf32({NAN})) EXPECT_TRUE(std::isnan(std::bit_cast<float>(bits)));
}

}  // namespace
}  // namespace gemm

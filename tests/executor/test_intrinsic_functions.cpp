// Arithmetic intrinsics, vector types and cooperative groups on this build's device.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/device_test.hpp"
#include "tests/executor/intrinsic_kernels.hpp"

namespace intrinsics {
namespace {

class Functions : public gemm::DeviceTest {};

TEST_F(Functions, VectorTypesArriveWhole) {
  EXPECT_EQ(damaged_vector_types(), std::vector<std::string>());
}

/// a * b rounded: volatile, because this file's compiler may fuse, too.
template <class T>
T product(T a, T b) {
  volatile T rounded = a * b;
  return rounded;
}

TEST_F(Functions, SinglePrecision) {
  const float a = 1.1f, b = 1.3f, c = -product(a, b);
  ASSERT_NE(std::fma(a, b, c), 0.0f) << "fused or not must show";
  const std::vector<float> exact = {std::fma(a, b, c), 0.0f, product(a, b) - c, 0.0f, a / b, 1 / a, std::sqrt(a)};
  const std::vector<double> near = {1 / std::sqrt(a), a / b,          std::exp(a),    std::log(a),
                                    std::log2(a),     std::log10(a),  std::sin(a),    std::cos(a),
                                    std::tan(a),      std::pow(a, b), std::pow(10, a)};
  const std::vector<float> exact_again = {
      1, 0, a - 1, 0, static_cast<float>(1.0 / a), 16777216, 4294967296.0f, a, std::nextafter(a, 2.0f)};
  const std::vector<float> got = float_functions(a, b, c);
  ASSERT_EQ(got.size(), exact.size() + near.size() + exact_again.size());
  std::size_t i = 0;
  for (const float x : exact) {
    EXPECT_EQ(got[i], x) << i;
    ++i;
  }
  for (const double x : near) {
    EXPECT_NEAR(got[i], x, 1e-5 * std::fabs(x)) << i;  // approximations on a GPU
    ++i;
  }
  for (const float x : exact_again) {
    EXPECT_EQ(got[i], x) << i;
    ++i;
  }
}

TEST_F(Functions, DoublePrecision) {
  const double a = 1.1, b = 1.3, c = -product(a, b);
  ASSERT_NE(std::fma(a, b, c), 0.0) << "fused or not must show";
  const std::vector<double> got = double_functions(a, b, c);
  const std::vector<double> expected = {
      std::fma(a, b, c), 0, product(a, b) - c, a / b, 1 / std::sqrt(a), std::sqrt(a), std::nextafter(a, 2.0), -7};
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], i == 4 ? 1e-15 : 0) << i;
}

TEST_F(Functions, ConversionsToIntegers) {
  using List = std::vector<long long>;
  EXPECT_EQ(conversions(2.5f, 3.5), (List{2, 2, 3, 2, 2, 2, 2, 2, 4, 3, 3, 4}));
  EXPECT_EQ(conversions(-2.5f, -3.5), (List{-2, -2, -2, -3, 0, 0, -2, 0, -4, 0, -4, 0}));
  const long long max = std::numeric_limits<long long>::max(), min = std::numeric_limits<long long>::min();
  EXPECT_EQ(conversions(1e30f, 1e30), (List{2147483647, 2147483647, 2147483647, 2147483647, 4294967295, 4294967295, max,
                                            -1, 2147483647, 4294967295, max, -1}));
  EXPECT_EQ(conversions(-1e30f, -1e30),
            (List{-2147483648, -2147483648, -2147483648, -2147483648, 0, 0, min, 0, -2147483648, 0, min, 0}));
}

TEST_F(Functions, ConversionsOfNaN) {
  const long long top = std::numeric_limits<long long>::min();
  EXPECT_EQ(conversions(NAN, NAN),
            (std::vector<long long>{0, 0, 0, 0, 0, 0, top, top, -2147483648, 2147483648, top, top}));
}

TEST_F(Functions, Integers) {
  const int a = -123456789, b = 987654321;
  const long long c = -0x123456789abcdef0, d = 0x0fedcba987654321;
  const auto umul = [](unsigned long long x, unsigned long long y) {
    return static_cast<long long>(static_cast<unsigned __int128>(x) * y >> 64);
  };
  const int a24 = (a << 8) >> 8, b24 = (b << 8) >> 8;
  EXPECT_EQ(integer_functions(a, b, c, d),
            (std::vector<long long>{
                static_cast<long long>(a) * b >> 32,
                static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(a)) * b >> 32),
                static_cast<long long>(static_cast<__int128>(c) * d >> 64), umul(c, d),
                static_cast<int>(static_cast<long long>(a24) * b24),
                static_cast<unsigned>((a & 0xffffffull) * (b & 0xffffffull)), 32}));
}

TEST_F(Functions, MinAndMax) {
  EXPECT_EQ(min_max(-1, 7, 0.25f, 0.75, -9, 8), (std::vector<double>{-1, 3, 3, 7, 7, 4294967295.0, -9, -5, 5, 8, 0.25,
                                                                     0.5, 0.5, 0.75, 0.25, 0.75, 0.25, 0.25}));
}

/// What the thread at `rank` of a group with these values must get. (exclusive: see the tests.)
void expect_member(const Member& got, const std::vector<int>& group, int rank) {
  const int size = static_cast<int>(group.size()), mine = group[rank];
  unsigned odd = 0, same = 0;
  int sum = 0, all_bits = -1, any_bit = 0, odd_bits = 0;
  float product = 1;
  for (int r = 0; r < size; ++r) {
    odd |= static_cast<unsigned>(group[r] % 2) << r;
    same |= (group[r] % 3 == mine % 3 ? 1u : 0u) << r;
    sum += group[r], all_bits &= group[r], any_bit |= group[r], odd_bits ^= group[r];
    product *= 1.0f + group[r] % 2;
  }
  const unsigned everyone = size == 32 ? ~0u : (1u << size) - 1;
  EXPECT_EQ(got.rank, static_cast<unsigned>(rank));
  EXPECT_EQ(got.size, group.size());
  EXPECT_EQ(got.ballot, odd);
  EXPECT_EQ(got.any != 0, odd != 0);
  EXPECT_EQ(got.all != 0, odd == everyone);
  EXPECT_EQ(got.match_any, same);
  EXPECT_EQ(got.match_all, odd == 0 || odd == everyone ? everyone : 0);
  EXPECT_EQ(got.shfl, group.back());
  EXPECT_EQ(got.up, group[std::max(rank - 1, 0)]);
  EXPECT_EQ(got.down, group[std::min(rank + 1, size - 1)]);
  EXPECT_EQ(got.sum, sum);
  EXPECT_EQ(got.least, *std::min_element(group.begin(), group.end()));
  EXPECT_EQ(got.greatest, *std::max_element(group.begin(), group.end()));
  EXPECT_EQ(got.bit_or, any_bit - all_bits + odd_bits);
  EXPECT_EQ(got.product, product);
}

std::vector<int> some_values(int count) {
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i) values[i] = i < 32 ? 2 * i + 1 : (i * i + 5) % 101;  // the first warp's are odd
  return values;
}

TEST_F(Functions, TilesOfEverySize) {
  const std::vector<int> values = some_values(96);
  for (const int size : {1, 2, 4, 8, 16, 32}) {
    for (const bool from_tile : {false, true}) {
      const std::vector<Member> got = tiles(size, from_tile, values);
      for (int i = 0; i < 96; ++i) {
        SCOPED_TRACE(testing::Message() << "size " << size << " from tile " << from_tile << " thread " << i);
        const int first = i / size * size;
        expect_member(got[i], {values.begin() + first, values.begin() + first + size}, i - first);
        EXPECT_EQ(got[i].exclusive, values[i ^ (size / 2)]);
        const int parent = from_tile && size < 32 ? 32 : 96;
        EXPECT_EQ(got[i].meta_rank, static_cast<unsigned>(i % parent / size));
        EXPECT_EQ(got[i].meta_size, static_cast<unsigned>(parent / size));
      }
    }
  }
}

TEST_F(Functions, CoalescedThreads) {
  for (const int threads : {32, 20, 1}) {
    const std::vector<int> values = some_values(threads);
    const std::vector<Member> got = coalesced(threads, values);
    for (int i = 0; i < threads; ++i) {
      SCOPED_TRACE(testing::Message() << threads << " threads, " << i);
      expect_member(got[i], values, i);
      EXPECT_NE(got[i].exclusive, 0) << "match_all's predicate: all are odd";
      EXPECT_EQ(got[i].meta_rank, 0u);
      EXPECT_EQ(got[i].meta_size, 1u);
    }
  }
}

TEST_F(Functions, BlockGroup) {
  const std::vector<unsigned> got = block_group();
  for (unsigned block = 0, at = 0; block < 2; ++block) {
    for (unsigned i = 0; i < 96; ++i, at += 12) {
      EXPECT_EQ(std::vector<unsigned>(&got[at], &got[at] + 12),
                (std::vector<unsigned>{i, 96, block, 0, i % 8, i / 8 % 4, i / 32, 8, 4, 3, 96, (i + 1) % 96}));
    }
  }
}

}  // namespace
}  // namespace intrinsics

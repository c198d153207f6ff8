// CUDA's intrinsics on this build's device, against what the CUDA C++ Programming Guide and PTX say that they do. Run
// on a GPU, this tests the tests; on the CPU executor, the executor.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/device_test.hpp"
#include "tests/executor/intrinsic_kernels.hpp"

namespace intrinsics {
namespace {

class Intrinsics : public gemm::DeviceTest {};

constexpr unsigned everybody = ~0u;
const unsigned masks[] = {everybody, 0x0000ffffu, 0xffff0000u, 0x55555555u, 0x12345678u, 0x00000001u};

/// The lanes that call together with `lane`.
unsigned group_of(unsigned mask, int lane) {
  return mask >> lane & 1 ? mask : ~mask;
}

/// PTX, shfl.sync.
int source_lane(Shuffle kind, int lane, int argument, int width) {
  const int first = lane / width * width, last = first + width - 1;
  switch (kind) {
    case Shuffle::index:
      return first + ((lane * index_stride + argument) & (width - 1));
    case Shuffle::up:
      return lane - argument >= first ? lane - argument : lane;
    case Shuffle::down:
      return lane + argument <= last ? lane + argument : lane;
    case Shuffle::exclusive:
      return (lane ^ argument) <= last ? lane ^ argument : lane;
  }
  return -1;
}

template <class T>
std::vector<T> distinct_values(int count) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) {
    // Both halves of a wide type count.
    values.push_back(static_cast<T>(i + 1) * static_cast<T>(sizeof(T) == 8 ? 0x100000001ll : 1) - static_cast<T>(7));
  }
  return values;
}

std::vector<ShuffleCall> every_shuffle() {
  std::vector<ShuffleCall> calls;
  for (const unsigned mask : masks) {
    for (const int width : {1, 2, 4, 8, 16, 32}) {
      for (const Shuffle kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::exclusive}) {
        for (const int argument : {0, 1, 2, 5, 8, 16, 31}) calls.push_back({kind, argument, width, mask});
      }
    }
  }
  return calls;
}

template <class T>
void expect_shuffles() {
  const std::vector<T> values = distinct_values<T>(64);
  const std::vector<ShuffleCall> calls = every_shuffle();
  const std::vector<T> got = shuffle(calls, values);
  ASSERT_EQ(got.size(), calls.size() * 64);
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const auto [kind, argument, width, mask] = calls[c];
    for (int i = 0; i < 64; ++i) {
      const int source = source_lane(kind, i % 32, argument, width);
      if (group_of(mask, i % 32) != group_of(mask, source)) continue;  // undefined
      ASSERT_EQ(got[c * 64 + i], values[i / 32 * 32 + source])
          << "kind " << static_cast<int>(kind) << " argument " << argument << " width " << width << " mask " << std::hex
          << mask << std::dec << " thread " << i << " of " << sizeof(T) << " bytes";
    }
  }
}

TEST_F(Intrinsics, ShuffleEveryTypeWidthAndMask) {
  expect_shuffles<int>();
  expect_shuffles<unsigned>();
  expect_shuffles<long>();
  expect_shuffles<unsigned long>();
  expect_shuffles<long long>();
  expect_shuffles<unsigned long long>();
  expect_shuffles<float>();
  expect_shuffles<double>();
}

// A warp of 20 threads: the mask names them.
TEST_F(Intrinsics, ShuffleInAPartialWarp) {
  const std::vector<int> values = distinct_values<int>(20);
  const std::vector<int> got = shuffle({{Shuffle::down, 1, 32, 0xfffffu}}, values);
  for (int i = 0; i < 19; ++i) EXPECT_EQ(got[i], values[i + 1]);
}

TEST_F(Intrinsics, Votes) {
  for (const unsigned mask : masks) {
    for (const unsigned yes : {0u, everybody, 0x0000ffffu, 0x12345678u, 0x80000000u}) {
      std::vector<int> predicates(64);
      for (int i = 0; i < 64; ++i) predicates[i] = yes >> i % 32 & 1 ? 4 + i : 0;
      const std::vector<Vote> got = vote(mask, predicates);
      for (int i = 0; i < 64; ++i) {
        const unsigned group = group_of(mask, i % 32);
        ASSERT_EQ(got[i].ballot, yes & group);
        ASSERT_EQ(got[i].all != 0, (yes & group) == group);
        ASSERT_EQ(got[i].any != 0, (yes & group) != 0);
      }
    }
  }
}

template <class T>
void expect_matches() {
  std::vector<T> some(64), same(64, T(3));
  for (int i = 0; i < 64; ++i) some[i] = static_cast<T>(i % 5) * static_cast<T>(sizeof(T) == 8 ? 0x100000000ll : 1);
  for (const unsigned mask : masks) {
    for (const std::vector<T>& values : {some, same}) {
      const std::vector<Match> got = match(mask, values);
      for (int i = 0; i < 64; ++i) {
        const unsigned group = group_of(mask, i % 32);
        unsigned equal = 0;
        for (int l = 0; l < 32; ++l) equal |= (values[i / 32 * 32 + l] == values[i] ? 1u : 0u) << l;
        const bool all = (equal & group) == group;
        ASSERT_EQ(got[i].any, equal & group);
        ASSERT_EQ(got[i].all, all ? group : 0);
        ASSERT_EQ(got[i].predicate != 0, all);
      }
    }
  }
}

TEST_F(Intrinsics, Matches) {
  expect_matches<int>();
  expect_matches<unsigned>();
  expect_matches<long>();
  expect_matches<unsigned long>();
  expect_matches<long long>();
  expect_matches<unsigned long long>();
  expect_matches<float>();
  expect_matches<double>();
}

template <class T>
void expect_reductions() {
  std::vector<T> values(64);
  for (int i = 0; i < 64; ++i) values[i] = static_cast<T>(0x9e3779b9u * (i + 1));
  for (const unsigned mask : masks) {
    const std::vector<Reduction<T>> got = reduce(mask, values);
    if (got.empty()) GTEST_SKIP() << "__reduce_*_sync needs compute capability 8.0";
    for (int i = 0; i < 64; ++i) {
      std::vector<T> group;
      for (int l = 0; l < 32; ++l) {
        if (group_of(mask, i % 32) >> l & 1) group.push_back(values[i / 32 * 32 + l]);
      }
      unsigned sum = 0, all = everybody, any = 0, odd = 0;
      for (const T value : group) {
        const auto bits = static_cast<unsigned>(value);
        sum += bits, all &= bits, any |= bits, odd ^= bits;
      }
      ASSERT_EQ(got[i].add, static_cast<T>(sum));
      ASSERT_EQ(got[i].min, *std::min_element(group.begin(), group.end()));
      ASSERT_EQ(got[i].max, *std::max_element(group.begin(), group.end()));
      ASSERT_EQ(got[i].bit_and, all);
      ASSERT_EQ(got[i].bit_or, any);
      ASSERT_EQ(got[i].bit_xor, odd);
    }
  }
}

TEST_F(Intrinsics, ReductionsOfSignedIntegers) {
  expect_reductions<int>();
}
TEST_F(Intrinsics, ReductionsOfUnsignedIntegers) {
  expect_reductions<unsigned>();
}

TEST_F(Intrinsics, SyncwarpOfSomeLanes) {
  const std::vector<int> got = neighbours_after_syncwarp();
  for (int i = 0; i < 32; ++i) {
    const int second = i < 16 ? (i + 2) % 16 + 200 : 0;
    EXPECT_EQ(got[i], i % 2 ? -1 : (i + 2) % 32 + 100 + second) << i;
  }
}

TEST_F(Intrinsics, ActiveMask) {
  EXPECT_EQ(active_masks(64), std::vector<unsigned>(64, everybody));
  EXPECT_EQ(active_masks(20), std::vector<unsigned>(20, 0xfffffu));
}

// The table of "Decreasing LDS Memory Requests", and the permutations by which its lanes share B.
TEST_F(Intrinsics, QuadPermByAShuffle) {
  std::vector<float> words(32);
  for (int i = 0; i < 32; ++i) words[i] = static_cast<float>(i / 4 * 10 + i % 4 + 1);  // 1 2 3 4, 11 12 13 14, ...
  for (const std::array permutation : {std::array{2, 2, 0, 1}, {0, 0, 2, 2}, {1, 1, 3, 3}, {0, 1, 2, 3}}) {
    const std::vector<float> got = quad_perm(words, permutation);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], words[i / 4 * 4 + permutation[i % 4]]) << i;
  }
  const std::vector<float> got = quad_perm(words, {2, 2, 0, 1});
  EXPECT_EQ(std::vector<float>(got.begin(), got.begin() + 4), (std::vector<float>{3, 3, 1, 2}));
}

TEST_F(Intrinsics, Bits) {
  std::vector<unsigned long long> values = {
      0, 1, ~0ull, 0x80000000, 0x8000000000000000, 0x100000000, 0x123456789abcdef};
  for (int i = 0; i < 64; ++i) values.push_back(1ull << i);
  const std::vector<intrinsics::Bits> got = bits(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const unsigned long long x = values[i];
    const auto low = static_cast<unsigned>(x);
    EXPECT_EQ(got[i].popc, std::popcount(low));
    EXPECT_EQ(got[i].popcll, std::popcount(x));
    EXPECT_EQ(got[i].clz, std::countl_zero(low));
    EXPECT_EQ(got[i].clzll, std::countl_zero(x));
    EXPECT_EQ(got[i].ffs, low ? std::countr_zero(low) + 1 : 0);
    EXPECT_EQ(got[i].ffsll, x ? std::countr_zero(x) + 1 : 0);
    unsigned long long reversed = 0;
    for (int b = 0; b < 64; ++b) reversed |= (x >> b & 1) << (63 - b);
    EXPECT_EQ(got[i].brevll, reversed);
    EXPECT_EQ(got[i].brev, static_cast<unsigned>(reversed >> 32));
  }
}

template <class T>
T combined(Atomic operation, T a, T b) {
  switch (operation) {
    case Atomic::sub:
      if constexpr (std::is_integral_v<T>) {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
      }
      return a - b;
    case Atomic::min:
      return std::min(a, b);
    case Atomic::max:
      return std::max(a, b);
    case Atomic::increment:
      return a >= b ? 0 : a + 1;
    case Atomic::decrement:
      return a == 0 || a > b ? b : a - 1;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (operation == Atomic::bit_and) return a & b;
    if (operation == Atomic::bit_or) return a | b;
    if (operation == Atomic::bit_xor) return a ^ b;
  }
  // Integers wrap around, which for signed ones C++ leaves undefined.
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  }
  return a + b;
}

// The final values, and that the old values are a chain: every state of the cell but the last was seen by one thread.
template <class T>
void expect_atomics(std::initializer_list<Atomic> operations, T initial, T (*operand)(int)) {
  for (const Atomic operation : operations) {
    for (const Scope scope : {Scope::device, Scope::block, Scope::system}) {
      const int blocks = scope == Scope::block ? 1 : 5, threads = blocks * 96;
      const bool counts = operation == Atomic::increment || operation == Atomic::decrement;
      std::vector<T> operands(threads);
      for (int i = 0; i < threads; ++i) operands[i] = counts ? T(100) : operand(i);
      const AtomicResult<T> got = atomic(operation, scope, blocks, initial, operands);
      const auto name = testing::Message() << "operation " << static_cast<int>(operation) << " scope "
                                           << static_cast<int>(scope) << " of " << sizeof(T) << " bytes";
      const auto fold = [&](int from, int to) {
        T value = initial;
        for (int i = from; i < to; ++i) value = combined(operation, value, operands[i]);
        return value;
      };
      if (operation == Atomic::exchange) {
        std::vector<T> seen = got.old, written = operands;
        seen.push_back(got.global);
        written.push_back(initial);
        std::sort(seen.begin(), seen.end());
        std::sort(written.begin(), written.end());
        EXPECT_EQ(seen, written) << name;
        continue;
      }
      EXPECT_EQ(got.global, fold(0, threads)) << name;
      for (int b = 0; b < blocks; ++b) EXPECT_EQ(got.shared[b], fold(96 * b, 96 * b + 96)) << name;
      if (!counts) continue;
      std::vector<T> seen = got.old, states;
      T state = initial;
      for (int i = 0; i < threads; ++i) states.push_back(std::exchange(state, combined(operation, state, T(100))));
      std::sort(seen.begin(), seen.end());
      std::sort(states.begin(), states.end());
      EXPECT_EQ(seen, states) << name;
    }
  }
}

TEST_F(Intrinsics, Atomics) {
  using enum Atomic;
  // A sum passes 2^32 where there are 64 bits. Floating-point sums are of small integers, so that no order rounds.
  expect_atomics<int>({add, sub, exchange, min, max, compare_exchange, bit_and, bit_or, bit_xor}, 12345,
                      [](int i) { return i * (i % 2 ? 7919 : -104729); });
  expect_atomics<unsigned>(
      {add, sub, exchange, min, max, increment, decrement, compare_exchange, bit_and, bit_or, bit_xor}, 90u,
      [](int i) { return 0x9e3779b9u * (i + 1); });
  expect_atomics<long long>({min, max}, 5, [](int i) { return (i % 2 ? -1ll : 1ll) * i * 0x123456789ll; });
  expect_atomics<unsigned long long>({add, exchange, min, max, compare_exchange, bit_and, bit_or, bit_xor}, ~0ull / 3,
                                     [](int i) { return 0x9e3779b97f4a7c15ull * (i + 1); });
  expect_atomics<unsigned short>({compare_exchange}, 65000, [](int i) { return static_cast<unsigned short>(i * 77); });
  expect_atomics<float>({add, exchange}, 0.5f, [](int i) { return static_cast<float>(i % 64 - 20); });
  expect_atomics<double>({add}, 0.5, [](int i) { return i + 0x1p40; });
}

TEST_F(Intrinsics, FencesAndATicketFindTheLastBlock) {
  for (int run = 0; run < 20; ++run) EXPECT_EQ(sum_by_last_block(100), 5050);
}

}  // namespace
}  // namespace intrinsics

// TSMM in A's own memory, and products of lists of blocks (tsm/tall_skinny.hpp). On the executor kernels are observed:
// they may not race.
#include <algorithm>
#include <optional>
#include <utility>

#include "common/kernel/launch_log.hpp"
#include "common/problem/registry.hpp"
#include "tests/libraries/block_vector_test.hpp"

namespace gemm {
namespace {

class BlockVectors : public BlockVectorTest {};

/// Whole numbers, so that sums are exact.
template <class T>
T whole_number(std::size_t i) {
  const double x = static_cast<double>(i * 7 % 17) - 8;
  if constexpr (sizeof(T) == sizeof(double))
    return x;
  else
    return {x, static_cast<double>(i * 5 % 13) - 6};
}
// ---- TSMM in place

template <class T>
struct InPlace {
  int m, n, ld;
  std::int64_t k;
  std::vector<T> a, c, right;

  InPlace(int m, int n, int ld, std::int64_t k, T alpha, T beta) : m(m), n(n), ld(ld), k(k) {
    a.resize(static_cast<std::size_t>(k * ld));
    c.resize(static_cast<std::size_t>(m * n));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = whole_number<T>(i);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = whole_number<T>(3 * i + 1);
    right = a;
    for (std::int64_t row = 0; row < k; ++row) {
      const T* const its = &a[static_cast<std::size_t>(row * ld)];
      for (int j = 0; j < n; ++j) {
        T sum{};
        for (int i = 0; i < m; ++i) sum += its[i] * c[static_cast<std::size_t>(i * n + j)];
        right[static_cast<std::size_t>(row * ld + j)] = alpha * sum + beta * its[j];
      }
    }
  }
};

template <class T>
void expect_in_place(int m, int n, int ld, std::int64_t k, bool prepared, T alpha, T beta) {
  SCOPED_TRACE(testing::Message() << m << " x " << n << ", ld " << ld << ", k " << k << ", prepared " << prepared);
  const InPlace<T> problem(m, n, ld, k, alpha, beta);
  const DeviceArray<T> a = on_device(problem.a), c = on_device(problem.c);
  if (prepared) {
    ASSERT_TRUE(tall_skinny::prepare_tsmm(type_of<T>, m, n, a.data(), ld, a.data(), ld));
  }
  expect_clean(
      [&] { return tall_skinny::tsmm(nullptr, m, n, k, alpha, a.data(), ld, c.data(), n, beta, a.data(), ld); });
  EXPECT_EQ(a.to_host(), problem.right);
}

template <class T>
void expect_all_in_place(std::int64_t k) {
  for (const bool prepared : {false, true}) {
    expect_in_place<T>(4, 4, 4, k, prepared, T(1), T(0));  // which apart from A is stage 12's
    expect_in_place<T>(6, 5, 7, k, prepared, T(2), T(-1));
    expect_in_place<T>(3, 5, 6, k, prepared, T(1), T(0));
    expect_in_place<T>(17, 17, 17, k, prepared, T(1), T(0));
    expect_in_place<T>(33, 16, 40, k, prepared, T(1), T(1));
    if (open_device().gpu) {
      for (const int width : {1, 2, 8, 31, 48, 57, 64}) {
        for (const int gap : {0, 1, 4}) expect_in_place<T>(width, width, width + gap, 30 * k, prepared, T(1), T(0));
      }
    }
  }
}

TEST_F(BlockVectors, InPlaceOfDouble) {
  expect_all_in_place<double>(1000);
}
TEST_F(BlockVectors, InPlaceOfComplex) {
  expect_all_in_place<Complex>(700);
}

// ---- TSMM with B from any address: lines of 128 bytes leave together, and what lies around B stays as it was

template <class T>
void expect_displaced(int m, int n, std::int64_t k, int by, T beta) {
  SCOPED_TRACE(testing::Message() << m << " x " << n << ", displaced by " << by << ", beta " << beta);
  const auto numbers = [](std::int64_t count, std::size_t step, std::size_t first) {
    std::vector<T> all(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = whole_number<T>(step * i + first);
    return all;
  };
  const std::vector<T> a = numbers(k * m, 1, 0), b = numbers(k * n + 2 * by, 5, 2), c = numbers(m * n, 3, 1);
  std::vector<T> right = b;
  for (std::int64_t row = 0; row < k; ++row) {
    for (int j = 0; j < n; ++j) {
      T sum{};
      for (int i = 0; i < m; ++i)
        sum += a[static_cast<std::size_t>(row * m + i)] * c[static_cast<std::size_t>(i * n + j)];
      T& its = right[static_cast<std::size_t>(by + row * n + j)];
      its = sum + beta * its;
    }
  }
  const DeviceArray<T> on_a = on_device(a), on_b = on_device(b), on_c = on_device(c);
  expect_clean([&] {
    return tall_skinny::tsmm(nullptr, m, n, k, T(1), on_a.data(), m, on_c.data(), n, beta, on_b.data() + by, n);
  });
  EXPECT_EQ(on_b.to_host(), right);
}

template <class T>
void expect_all_displaced(std::int64_t k) {
  for (const auto& [m, n] : {std::pair(4, 6), {2, 16}, {5, 9}, {20, 20}}) {
    for (const int by : {1, 2, 3}) {
      expect_displaced<T>(m, n, k, by, T(0));
      if (by < 3) expect_displaced<T>(m, n, k, by, T(-1));
    }
  }
  if (!open_device().gpu) return;
  for (const int width : {1, 3, 7, 31, 48, 57, 64}) {
    for (const int by : {1, 2}) {
      expect_displaced<T>(width, width, 30 * k, by, T(0));
      expect_displaced<T>(7, width, 30 * k, by, T(1));
    }
  }
}

TEST_F(BlockVectors, DisplacedOfDouble) {
  expect_all_displaced<double>(500);
}
TEST_F(BlockVectors, DisplacedOfComplex) {
  expect_all_displaced<Complex>(350);
}

TEST_F(BlockVectors, InPlaceIsRefusedWithAnotherStride) {
  const DeviceArray<double> a(100), c(16);
  const auto status = tall_skinny::tsmm(nullptr, 4, 4, 10, 1, a.data(), 4, c.data(), 4, 0, a.data(), 5);
  EXPECT_EQ(status.code, Code::invalid);
  EXPECT_NE(status.reason.find("strides"), std::string::npos);
}

// Why stage 12 is not chosen: what the tests above would find.
TEST_F(BlockVectors, ThreadsOfOneRowRace) {
  if (open_device().gpu) GTEST_SKIP() << "a GPU reports no races";
  const auto stage = std::ranges::find(stages(), "tsm/12_tsmm_generated", &Stage::id);
  ASSERT_NE(stage, stages().end());
  const InPlace<double> problem(6, 6, 6, 500, 1, 0);
  const DeviceArray<double> a = on_device(problem.a), c = on_device(problem.c);
  Problem p;
  p.op = Operation::tsmm;
  p.m = p.n = p.ldx = p.ldy = p.ldout = 6;
  p.k = 500;
  p.alpha = {1};
  p.x = p.out = a.data();
  p.y = c.data();
  p.kernel.threads_per_row = 3;
  const Observation seen = observe([&] { EXPECT_TRUE(stage->launch(p, nullptr)); });
  EXPECT_FALSE(seen.defects.empty());
}

// ---- lists of blocks

template <class T>
struct BlockOnDevice {
  int columns, ld;
  std::vector<T> host;
  DeviceArray<T> memory;

  BlockOnDevice(int columns, int ld, std::int64_t k, std::size_t seed) : columns(columns), ld(ld) {
    host.resize(static_cast<std::size_t>(k * ld));
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = whole_number<T>(seed + i * (seed + 2));
    memory = on_device(host);
  }
};

/// Of all blocks, with whole numbers; C has one column more. Returns what has run.
struct Launches {
  std::size_t kernels = 0;
  std::uint64_t read_bytes = 0;  ///< of global memory; 0 on a GPU
};
template <class T>
Launches expect_product_of(const std::vector<const BlockOnDevice<T>*>& a, const std::vector<const BlockOnDevice<T>*>& b,
                           T alpha, T beta, bool conjugate) {
  constexpr std::int64_t k = 130;
  std::vector<tall_skinny::Block<T>> lists[2];
  std::vector<std::pair<const BlockOnDevice<T>*, int>> columns[2];
  for (const int side : {0, 1}) {
    for (const BlockOnDevice<T>* const block : side == 0 ? a : b) {
      lists[side].push_back({block->memory.data(), block->ld, block->columns});
      for (int col = 0; col < block->columns; ++col) columns[side].emplace_back(block, col);
    }
  }
  const std::size_t ldc = columns[1].size() + 1;
  std::vector<T> right(columns[0].size() * ldc, T(7));
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    for (std::size_t j = 0; j + 1 < ldc; ++j) {
      T sum{};
      for (std::int64_t row = 0; row < k; ++row) {
        const auto word = [&](const auto& column) {
          return column.first->host[static_cast<std::size_t>(row * column.first->ld + column.second)];
        };
        const T left = word(columns[0][i]);
        sum += (conjugate ? conjugate_of(left) : left) * word(columns[1][j]);
      }
      right[i * ldc + j] = alpha * sum + beta * T(7);
    }
  }
  const DeviceArray<T> c = on_device(std::vector<T>(right.size(), T(7)));
  const int counts[2] = {static_cast<int>(a.size()), static_cast<int>(b.size())};
  const std::size_t bytes = tall_skinny::tsmttsm_workspace(lists[0].data(), counts[0], lists[1].data(), counts[1], k);
  const DeviceArray<unsigned char> workspace(bytes);
  const auto multiply = [&] {
    return tall_skinny::tsmttsm(nullptr, k, alpha, lists[0].data(), counts[0], lists[1].data(), counts[1], beta,
                                c.data(), static_cast<std::int64_t>(ldc), conjugate, workspace.data(), bytes);
  };
  expect_clean(multiply);
  EXPECT_EQ(c.to_host(), right);
  std::vector<LaunchRecord> launches;
  const LaunchLogScope log(launches);
  const Observation seen = observe([&] { EXPECT_TRUE(multiply()); });
  const std::optional<Counts> counted = counts_of(seen);
  return {launches.size(), counted ? counted->global_load.bytes : 0};
}

template <class T>
void expect_products_of_lists(T alpha) {
  constexpr std::int64_t k = 130;
  const BlockOnDevice<T> x(5, 5, k, 0), r(3, 9, k, 1), p(8, 8, k, 2), q(1, 1, k, 3);
  const Launches all = expect_product_of<T>({&x, &r, &p}, {&r, &x, &p}, alpha, T(0), true);
  const Launches symmetric = expect_product_of<T>({&x, &r, &p}, {&x, &r, &p}, T(2), T(0), true);
  EXPECT_EQ(all.kernels, 2);  // the second one adds up
  EXPECT_EQ(symmetric.kernels, 2);
  if (!open_device().gpu) {
    EXPECT_LT(symmetric.read_bytes, all.read_bytes * 2 / 3);  // once, not twice
  }
  expect_product_of<T>({&x, &r, &p}, {&x, &r, &p}, alpha, T(0), false);
  expect_product_of<T>({&x, &r, &p}, {&x, &r, &p}, alpha, T(0), true);
  expect_product_of<T>({&x, &r}, {&x, &r}, T(1), T(-3), true);
  expect_product_of<T>({&q}, {&x, &r, &p, &q}, alpha, T(1), true);
  // 16 bytes can be copied at a time of some blocks, and of others not; tiles below C's diagonal are left out.
  const BlockOnDevice<T> wide(16, 18, k, 4), narrow(2, 4, k, 5), odd(15, 15, k, 6);
  expect_product_of<T>({&wide, &narrow, &p}, {&wide, &narrow, &p}, alpha, T(1), true);
  expect_product_of<T>({&wide, &odd, &narrow, &wide}, {&wide, &odd, &narrow, &wide}, alpha, T(1), false);
  expect_product_of<T>({&wide}, {&wide}, alpha, T(0), true);
}

/// [X R P] C, also over X; the blocks are as they were afterwards, but for what B has replaced.
template <class T>
void expect_tsmm_of(const std::vector<BlockOnDevice<T>*>& a, int n, T alpha, T beta, int over = -1) {
  SCOPED_TRACE(testing::Message() << a.size() << " blocks, n " << n << ", over " << over);
  constexpr std::int64_t k = 130;
  std::vector<tall_skinny::Block<T>> list;
  std::size_t m = 0;
  for (const BlockOnDevice<T>* const block : a) {
    list.push_back({block->memory.data(), block->ld, block->columns});
    m += static_cast<std::size_t>(block->columns);
  }
  std::vector<T> c(m * static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = whole_number<T>(3 * i + 1);
  BlockOnDevice<T> apart(n, n + 1, k, 9);
  BlockOnDevice<T>& b = over < 0 ? apart : *a[static_cast<std::size_t>(over)];
  std::vector<T> right = b.host;
  for (std::int64_t row = 0; row < k; ++row) {
    for (int j = 0; j < n; ++j) {
      T sum{};
      std::size_t i = 0;
      for (const BlockOnDevice<T>* const block : a) {
        for (int col = 0; col < block->columns; ++col, ++i)
          sum += block->host[static_cast<std::size_t>(row * block->ld + col)] *
                 c[i * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)];
      }
      T& its = right[static_cast<std::size_t>(row * b.ld + j)];
      its = alpha * sum + beta * its;
    }
  }
  const DeviceArray<T> of_c = on_device(c);
  expect_clean([&] {
    return tall_skinny::tsmm(nullptr, n, k, alpha, list.data(), static_cast<int>(list.size()), of_c.data(), n, beta,
                             b.memory.data(), b.ld);
  });
  b.host = right;
  for (const BlockOnDevice<T>* const block : a) EXPECT_EQ(block->memory.to_host(), block->host);
  EXPECT_EQ(b.memory.to_host(), right);
}

template <class T>
void expect_tsmm_of_lists(T alpha) {
  constexpr std::int64_t k = 130;
  BlockOnDevice<T> x(5, 5, k, 0), r(3, 9, k, 1), p(8, 8, k, 2), wide(16, 18, k, 4);
  expect_tsmm_of<T>({&x}, 4, alpha, T(0));
  expect_tsmm_of<T>({&x, &r, &p}, 6, alpha, T(2));
  expect_tsmm_of<T>({&wide, &p, &wide}, 17, alpha, T(0));
  expect_tsmm_of<T>({&x, &r, &p}, 5, T(1), T(0), 0);
  expect_tsmm_of<T>({&wide, &x}, 16, T(1), T(-1), 0);
}

TEST_F(BlockVectors, ListsOfDouble) {
  expect_products_of_lists<double>(3);
}
TEST_F(BlockVectors, ListsOfComplex) {
  expect_products_of_lists<Complex>({1, 2});
}

TEST_F(BlockVectors, TsmmOfListsOfDouble) {
  expect_tsmm_of_lists<double>(3);
}
TEST_F(BlockVectors, TsmmOfListsOfComplex) {
  expect_tsmm_of_lists<Complex>({1, 2});
}

// Which no one kernel can have: a product for each pair.
TEST_F(BlockVectors, WideListsAreMultipliedPairByPair) {
  constexpr std::int64_t k = 130;
  const BlockOnDevice<double> x(40, 40, k, 0), r(30, 31, k, 1);
  const Launches all = expect_product_of<double>({&x, &r}, {&r, &x}, 2, 0, true);
  EXPECT_EQ(expect_product_of<double>({&r}, {&x}, 2, 1, true).kernels, 2);
  const Launches symmetric = expect_product_of<double>({&x, &r}, {&x, &r}, 2, 0, true);
  EXPECT_GT(symmetric.kernels, 2);
  EXPECT_LT(symmetric.kernels, all.kernels);
  const tall_skinny::Block<double> list[] = {{x.memory.data(), 40, 40}, {r.memory.data(), 31, 30}};
  const DeviceArray<double> c(70), b(k);
  EXPECT_EQ(tall_skinny::tsmm(nullptr, 1, k, 1, list, 2, c.data(), 1, 0, b.data(), 1).code, Code::unsupported);
}

TEST_F(BlockVectors, ListsAreRefusedAsAWhole) {
  const DeviceArray<double> x(100);
  const DeviceArray<double> c = on_device(std::vector<double>(64, 3));
  tall_skinny::Block<double> list[5] = {{x.data(), 4, 4}, {x.data(), 4, 4}, {x.data(), 4, 4}, {}, {}};
  const std::size_t bytes = tall_skinny::tsmttsm_workspace(list, 2, list, 2, 10);
  const DeviceArray<unsigned char> workspace(bytes);
  const auto code = [&](const tall_skinny::Block<double>* a, int count, std::int64_t ldc, std::size_t given) {
    return tall_skinny::tsmttsm(nullptr, 10, 1, a, count, list, 2, 0, c.data(), ldc, false, workspace.data(), given)
        .code;
  };
  EXPECT_EQ(code(list, 5, 8, bytes), Code::invalid);
  EXPECT_EQ(code(list, -1, 8, bytes), Code::invalid);
  EXPECT_EQ(code(nullptr, 2, 8, bytes), Code::invalid);
  EXPECT_EQ(code(list, 2, 7, bytes), Code::invalid);
  EXPECT_EQ(code(list, 2, 8, bytes - 1), Code::invalid);
  const auto over = [&](int count, std::int64_t ldb) {
    return tall_skinny::tsmm(nullptr, 1, 10, 1, list, count, c.data(), 1, 0, x.data(), ldb).code;
  };
  EXPECT_EQ(over(5, 4), Code::invalid);
  EXPECT_EQ(over(2, 5), Code::invalid);
  EXPECT_EQ(over(2, 0), Code::invalid);
  list[1].data = nullptr;
  EXPECT_EQ(code(list, 2, 8, bytes), Code::invalid);
  list[1] = {x.data(), 4, -4};
  EXPECT_EQ(code(list, 2, 8, bytes), Code::invalid);
  EXPECT_EQ(c.to_host(), std::vector<double>(64, 3));
}

}  // namespace
}  // namespace gemm

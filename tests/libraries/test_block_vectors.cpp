// What block solvers do with the tall & skinny products (tsm/tall_skinny.hpp): TSMM in A's own memory, products of lists of
// blocks, Cholesky QR 2. On the executor kernels are observed: they may not race.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "common/backend/counts.hpp"
#include "common/backend/device_memory.hpp"
#include "common/kernel/launch_log.hpp"
#include "common/problem/registry.hpp"
#include "tests/device_test.hpp"
#include "tsm/tall_skinny.hpp"

namespace gemm {
namespace {

using tall_skinny::Code;
using tall_skinny::Complex;

class BlockVectors : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && open_device().gpu && compute_capability() < 80) GTEST_SKIP() << "needs sm_80";
  }
};

template <class T>
constexpr tall_skinny::Type type_of = sizeof(T) == sizeof(double) ? tall_skinny::Type::d : tall_skinny::Type::z;

/// Whole numbers, so that sums are exact.
template <class T>
T whole_number(std::size_t i) {
  const double x = static_cast<double>(i * 7 % 17) - 8;
  if constexpr (sizeof(T) == sizeof(double))
    return x;
  else
    return {x, static_cast<double>(i * 5 % 13) - 6};
}
template <class T>
T conjugate_of(T x) {
  if constexpr (sizeof(T) == sizeof(double))
    return x;
  else
    return std::conj(x);
}

template <class T>
DeviceArray<T> on_device(const std::vector<T>& host) {
  DeviceArray<T> array(host.size());
  check_cuda(cudaMemcpy(array.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return array;
}

/// Runs it where the executor finds races, and waits.
template <class Body>
void expect_clean(const Body& body) {
  const Observation seen = observe([&] {
    const tall_skinny::Status status = body();
    EXPECT_TRUE(status) << status.reason;
    check_cuda(cudaDeviceSynchronize(), "run");
  });
  for (const std::string& defect : seen.defects) ADD_FAILURE() << defect;
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

/// Of all blocks, with whole numbers; C has one column more. Returns how many kernels were launched.
template <class T>
std::size_t expect_product_of(const std::vector<const BlockOnDevice<T>*>& a,
                              const std::vector<const BlockOnDevice<T>*>& b, T alpha, T beta, bool conjugate) {
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
  EXPECT_TRUE(multiply());
  return launches.size() / 2;  // each is first tried
}

template <class T>
void expect_products_of_lists(T alpha) {
  constexpr std::int64_t k = 130;
  const BlockOnDevice<T> x(5, 5, k, 0), r(3, 9, k, 1), p(8, 8, k, 2), q(1, 1, k, 3);
  const std::size_t all = expect_product_of<T>({&x, &r, &p}, {&r, &x, &p}, alpha, T(0), true);
  const std::size_t symmetric = expect_product_of<T>({&x, &r, &p}, {&x, &r, &p}, T(2), T(0), true);
  EXPECT_LT(symmetric, all);
  expect_product_of<T>({&x, &r, &p}, {&x, &r, &p}, alpha, T(0), false);
  expect_product_of<T>({&x, &r, &p}, {&x, &r, &p}, alpha, T(0), true);
  expect_product_of<T>({&x, &r}, {&x, &r}, T(1), T(-3), true);
  expect_product_of<T>({&q}, {&x, &r, &p, &q}, alpha, T(1), true);
}

TEST_F(BlockVectors, ListsOfDouble) {
  expect_products_of_lists<double>(3);
}
TEST_F(BlockVectors, ListsOfComplex) {
  expect_products_of_lists<Complex>({1, 2});
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
  list[1].data = nullptr;
  EXPECT_EQ(code(list, 2, 8, bytes), Code::invalid);
  list[1] = {x.data(), 4, -4};
  EXPECT_EQ(code(list, 2, 8, bytes), Code::invalid);
  EXPECT_EQ(c.to_host(), std::vector<double>(64, 3));
}

// ---- Cholesky QR 2

/// Numbers that don't look like a pattern, from -1 to 1.
template <class T>
T noise(std::size_t i) {
  const auto part = [](std::size_t at) {
    std::uint64_t x = (at + 1) * 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return static_cast<double>(static_cast<std::int64_t>(x ^ (x >> 31))) * 0x1p-63;
  };
  if constexpr (sizeof(T) == sizeof(double))
    return part(i);
  else
    return {part(2 * i), part(2 * i + 1)};
}

/// Columns that are orthonormal, of `rows` each, one behind the other: Gram-Schmidt, twice.
template <class T>
std::vector<std::vector<T>> orthonormal(std::size_t rows, std::size_t count, std::size_t seed) {
  std::vector<std::vector<T>> all(count, std::vector<T>(rows));
  for (std::size_t j = 0; j < count; ++j) {
    std::vector<T>& mine = all[j];
    for (std::size_t i = 0; i < rows; ++i) mine[i] = noise<T>(seed + j * rows + i);
    for (const int pass : {0, 1, 2}) {
      for (std::size_t l = 0; l < j && pass < 2; ++l) {
        T dot{};
        for (std::size_t i = 0; i < rows; ++i) dot += conjugate_of(all[l][i]) * mine[i];
        for (std::size_t i = 0; i < rows; ++i) mine[i] -= dot * all[l][i];
      }
      double square = 0;
      for (const T x : mine) square += std::norm(x);
      for (T& x : mine) x /= std::sqrt(square);
    }
  }
  return all;
}

constexpr double PADDING = 7e77;

/// U diag(1 ... 1 / condition) V^H, rows ld apart.
template <class T>
std::vector<T> with_condition(int n, std::int64_t k, int ld, double condition) {
  const auto rows = static_cast<std::size_t>(k), cols = static_cast<std::size_t>(n);
  const auto u = orthonormal<T>(rows, cols, 1), v = orthonormal<T>(cols, cols, 77'777);
  std::vector<T> x(rows * static_cast<std::size_t>(ld), T(PADDING));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      T sum{};
      for (std::size_t l = 0; l < cols; ++l)
        sum += u[l][i] * conjugate_of(v[l][j]) *
               std::pow(condition, n > 1 ? -static_cast<double>(l) / static_cast<double>(n - 1) : 0.0);
      x[i * static_cast<std::size_t>(ld) + j] = sum;
    }
  }
  return x;
}

/// Factorises X, whatever it is, and looks at all that is promised. Returns the method.
template <class T>
int expect_qr(const std::vector<T>& x, int n, std::int64_t k, int ld) {
  constexpr double U = std::numeric_limits<double>::epsilon() / 2;
  const int ldr = n + 1;
  const DeviceArray<T> on = on_device(x), r = on_device(std::vector<T>(static_cast<std::size_t>(n * ldr), T(PADDING)));
  const DeviceArray<int> method(1);
  const std::size_t bytes = tall_skinny::cholesky_qr2_workspace(n, type_of<T>);
  const DeviceArray<unsigned char> workspace(bytes);
  expect_clean([&] {
    return tall_skinny::cholesky_qr2(nullptr, n, k, on.data(), ld, r.data(), ldr, method.data(), workspace.data(),
                                     bytes);
  });
  const std::vector<T> q = on.to_host(), factor = r.to_host();
  const auto at = [](const std::vector<T>& matrix, std::int64_t row, int stride, int col) {
    return matrix[static_cast<std::size_t>(row * stride + col)];
  };
  double of_x = 0, residual = 0, deviation = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    for (int j = 0; j < ld; ++j) {
      if (j >= n) {
        EXPECT_EQ(at(q, i, ld, j), T(PADDING));
        continue;
      }
      T rest = at(x, i, ld, j);
      of_x += std::norm(rest);
      for (int l = 0; l <= j; ++l) rest -= at(q, i, ld, l) * at(factor, l, ldr, j);
      residual += std::norm(rest);
    }
  }
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(at(factor, i, ldr, n), T(PADDING));
    for (int j = 0; j < n; ++j) {
      EXPECT_TRUE(i <= j || at(factor, i, ldr, j) == T{});
      T dot(i == j ? -1 : 0);
      for (std::int64_t row = 0; row < k; ++row) dot += conjugate_of(at(q, row, ld, i)) * at(q, row, ld, j);
      deviation += std::norm(dot);
    }
    EXPECT_EQ(std::imag(at(factor, i, ldr, i)), 0);
    EXPECT_GE(std::real(at(factor, i, ldr, i)), 0);
  }
  EXPECT_LE(std::sqrt(deviation), 40 * n * U);
  EXPECT_LE(std::sqrt(residual), 40 * n * U * std::sqrt(of_x));
  return method.to_host()[0];
}

template <class T>
void expect_qr_of(int n, std::int64_t k, int ld) {
  for (const double condition : {1.0, 1e4, 1e7, 1e10, 1e12, 1e15}) {
    SCOPED_TRACE(testing::Message() << n << " columns, ld " << ld << ", k " << k << ", condition " << condition);
    const int method = expect_qr(with_condition<T>(n, k, ld, condition), n, k, ld);
    if (condition <= 1e7 || n == 1) {
      EXPECT_EQ(method, tall_skinny::qr_cholesky2);
    } else if (condition <= 1e10) {
      EXPECT_EQ(method, tall_skinny::qr_shifted_cholesky3);
    } else if (condition >= 1e15 && n >= 16) {
      EXPECT_EQ(method, tall_skinny::qr_householder);
    }
    if (n == 1) break;
  }
}

TEST_F(BlockVectors, QrOfDouble) {
  expect_qr_of<double>(1, 300, 1);
  expect_qr_of<double>(5, 333, 6);
  expect_qr_of<double>(16, 400, 16);
  expect_qr_of<double>(33, 301, 37);
  expect_qr_of<double>(64, 500, 64);
}
TEST_F(BlockVectors, QrOfComplex) {
  expect_qr_of<Complex>(1, 300, 2);
  expect_qr_of<Complex>(5, 333, 5);
  expect_qr_of<Complex>(16, 400, 19);
  expect_qr_of<Complex>(33, 301, 33);
  expect_qr_of<Complex>(64, 300, 65);
}
TEST_F(BlockVectors, QrOfManyRows) {
  if (!open_device().gpu) GTEST_SKIP() << "the executor has had enough rows for its few blocks";
  for (const int n : {3, 8, 20, 48, 64}) {
    for (const int gap : {0, 1}) {
      expect_qr_of<double>(n, 30'011, n + gap);
      expect_qr_of<Complex>(n, 30'011, n + gap);
    }
  }
}

// Columns that are zero, or alike, or as many as rows; numbers that are none.
TEST_F(BlockVectors, QrOfWhatHasNoCholeskyFactor) {
  constexpr int n = 6;
  std::vector<double> x(100 * n);
  EXPECT_EQ(expect_qr(x, n, 100, n), tall_skinny::qr_householder);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % n == 3 ? 0 : noise<double>(i);
  EXPECT_EQ(expect_qr(x, n, 100, n), tall_skinny::qr_householder);
  for (std::size_t i = 0; i < x.size(); i += n) x[i + 3] = x[i + 1];
  EXPECT_NE(expect_qr(x, n, 100, n), tall_skinny::qr_cholesky2);
  EXPECT_EQ(expect_qr(with_condition<double>(n, n, n, 10), n, n, n), tall_skinny::qr_cholesky2);
  std::vector<Complex> z(100 * n);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = i % n == 0 ? Complex{} : noise<Complex>(i);
  EXPECT_EQ(expect_qr(z, n, 100, n), tall_skinny::qr_householder);

  x[20] = NAN;
  const DeviceArray<double> on = on_device(x), r(n * n);
  const DeviceArray<int> method(1);
  const std::size_t bytes = tall_skinny::cholesky_qr2_workspace(n, tall_skinny::Type::d);
  const DeviceArray<unsigned char> workspace(bytes);
  ASSERT_TRUE(
      tall_skinny::cholesky_qr2(nullptr, n, 100, on.data(), n, r.data(), n, method.data(), workspace.data(), bytes));
  EXPECT_EQ(method.to_host()[0], tall_skinny::qr_householder);
  EXPECT_TRUE(std::isnan(r.to_host()[n * n - 1]));
}

TEST_F(BlockVectors, QrRefusals) {
  const DeviceArray<double> x(100), r(16), workspace(1);
  const DeviceArray<int> method(1);
  double* const places[] = {x.data(), r.data(), workspace.data()};
  const auto code = [&](int n, std::int64_t k, int ldx, int ldr, int missing, std::size_t bytes) {
    const auto given = [&](int i) { return i == missing ? nullptr : places[i]; };
    return tall_skinny::cholesky_qr2(nullptr, n, k, given(0), ldx, given(1), ldr,
                                     missing == 3 ? nullptr : method.data(), given(2), bytes)
        .code;
  };
  const std::size_t bytes = tall_skinny::cholesky_qr2_workspace(4, tall_skinny::Type::d);
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(code(-1, 10, 4, 4, -1, bytes), Code::invalid);
  EXPECT_EQ(code(4, 3, 4, 4, -1, bytes), Code::invalid);
  EXPECT_EQ(code(4, 10, 3, 4, -1, bytes), Code::invalid);
  EXPECT_EQ(code(4, 10, 4, 3, -1, bytes), Code::invalid);
  for (const int missing : {0, 1, 2, 3}) EXPECT_EQ(code(4, 10, 4, 4, missing, bytes), Code::invalid);
  EXPECT_EQ(code(4, 10, 4, 4, -1, bytes - 1), Code::invalid);
  EXPECT_EQ(code(65, 100, 65, 65, -1, bytes), Code::unsupported);
  EXPECT_EQ(code(0, 10, 4, 4, -1, 0), Code::ok);
  EXPECT_EQ(tall_skinny::cholesky_qr2_workspace(65, tall_skinny::Type::z), 0u);
}

}  // namespace
}  // namespace gemm

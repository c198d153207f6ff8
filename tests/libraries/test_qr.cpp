// Cholesky QR 2 and what follows it (tsm/tall_skinny.hpp): orthogonal to working precision whatever the matrix is.
#include <cmath>
#include <limits>
#include <type_traits>

#include "common/kernel/launch_log.hpp"
#include "tests/libraries/block_vector_test.hpp"

namespace gemm {

int set_shared_bytes_per_block(int bytes);  // shared_memory.cu

namespace {

class QrFactorisation : public BlockVectorTest {};

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

/// Of sums on the host, which must not be less exact than the device's.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, long double, std::complex<long double>>;

/// X = U diag(1 ... 1 / condition) V^H of any condition number.
template <class T>
struct Spectrum {
  std::size_t n, k;
  std::vector<std::vector<T>> u, v;

  Spectrum(int n, std::int64_t k) : n(static_cast<std::size_t>(n)), k(static_cast<std::size_t>(k)) {
    u = orthonormal<T>(this->k, this->n, 1);
    v = orthonormal<T>(this->n, this->n, 77'777);
  }
  /// Rows ld apart.
  std::vector<T> with_condition(double condition, int ld) const {
    std::vector<T> x(k * static_cast<std::size_t>(ld), T(PADDING));
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<T> scaled(n);
      for (std::size_t l = 0; l < n; ++l)
        scaled[l] = conjugate_of(v[l][j]) *
                    std::pow(condition, n > 1 ? -static_cast<double>(l) / static_cast<double>(n - 1) : 0.0);
      for (std::size_t i = 0; i < k; ++i) {
        T sum{};
        for (std::size_t l = 0; l < n; ++l) sum += u[l][i] * scaled[l];
        x[i * static_cast<std::size_t>(ld) + j] = sum;
      }
    }
    return x;
  }
};

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
  long double of_x = 0, residual = 0, deviation = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    for (int j = 0; j < ld; ++j) {
      if (j >= n) {
        EXPECT_EQ(at(q, i, ld, j), T(PADDING));
        continue;
      }
      Wide<T> rest = at(x, i, ld, j);
      of_x += std::norm(rest);
      for (int l = 0; l <= j; ++l) rest -= Wide<T>(at(q, i, ld, l)) * Wide<T>(at(factor, l, ldr, j));
      residual += std::norm(rest);
    }
  }
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(at(factor, i, ldr, n), T(PADDING));
    for (int j = 0; j < n; ++j) {
      EXPECT_TRUE(i <= j || at(factor, i, ldr, j) == T{});
      Wide<T> dot(i == j ? -1 : 0);
      for (std::int64_t row = 0; row < k; ++row)
        dot += Wide<T>(conjugate_of(at(q, row, ld, i))) * Wide<T>(at(q, row, ld, j));
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
void expect_qr_of(int n, std::int64_t k, int ld,
                  const std::vector<double>& conditions = {1.0, 1e4, 1e7, 1e10, 1e12, 1e15}) {
  const Spectrum<T> spectrum(n, k);
  for (const double condition : conditions) {
    SCOPED_TRACE(testing::Message() << n << " columns, ld " << ld << ", k " << k << ", condition " << condition);
    const int method = expect_qr(spectrum.with_condition(condition, ld), n, k, ld);
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

TEST_F(QrFactorisation, OfDouble) {
  expect_qr_of<double>(1, 300, 1);
  expect_qr_of<double>(3, 300, 4);
  expect_qr_of<double>(5, 333, 6);
  expect_qr_of<double>(16, 400, 16);
  expect_qr_of<double>(33, 301, 37);
  expect_qr_of<double>(64, 500, 64);
}
TEST_F(QrFactorisation, OfComplex) {
  expect_qr_of<Complex>(1, 300, 2);
  expect_qr_of<Complex>(4, 333, 4);
  expect_qr_of<Complex>(5, 333, 5);
  expect_qr_of<Complex>(16, 400, 19);
  expect_qr_of<Complex>(33, 301, 33);
  expect_qr_of<Complex>(64, 300, 65);
}
TEST_F(QrFactorisation, OfManyRows) {
  if (!open_device().gpu) GTEST_SKIP() << "the executor has had enough rows for its few blocks";
  for (const int n : {3, 8, 20, 48, 64}) {
    expect_qr_of<double>(n, 20'011, n + n % 3, {1, 1e10, 1e15});
    expect_qr_of<Complex>(n, 20'011, n + n % 2, {1, 1e10, 1e15});
  }
}

// Columns that are zero, or alike, or as many as rows; numbers that are none.
TEST_F(QrFactorisation, OfWhatHasNoCholeskyFactor) {
  constexpr int n = 6;
  std::vector<double> x(100 * n);
  EXPECT_EQ(expect_qr(x, n, 100, n), tall_skinny::qr_householder);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % n == 3 ? 0 : noise<double>(i);
  EXPECT_EQ(expect_qr(x, n, 100, n), tall_skinny::qr_householder);
  for (std::size_t i = 0; i < x.size(); i += n) x[i + 3] = x[i + 1];
  EXPECT_NE(expect_qr(x, n, 100, n), tall_skinny::qr_cholesky2);
  EXPECT_EQ(expect_qr(Spectrum<double>(n, n).with_condition(10, n), n, n, n), tall_skinny::qr_cholesky2);
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

// As on sm_86: nothing is enqueued if one of the kernels, whichever will be needed, does not fit.
TEST_F(QrFactorisation, FitsIntoSmallSharedMemoryOrIsRefused) {
  constexpr int small = 99 * 1024;
  const int before = set_shared_bytes_per_block(small);
  if (before == 0) GTEST_SKIP() << "this GPU has what it has";
  const DeviceArray<Complex> x(64 * 64), r(64 * 64), workspace(1 << 19);
  const DeviceArray<int> method(1);
  std::vector<LaunchRecord> launches;
  {
    const DryRunScope no_launch;
    const LaunchLogScope log(launches);
    const auto code = [&]<class T>(int n, T*) {
      return tall_skinny::cholesky_qr2(nullptr, n, 64, reinterpret_cast<T*>(x.data()), n,
                                       reinterpret_cast<T*>(r.data()), n, method.data(), workspace.data(),
                                       workspace.size() * sizeof(Complex))
          .code;
    };
    EXPECT_EQ(code(41, static_cast<Complex*>(nullptr)), Code::unsupported);
    EXPECT_TRUE(launches.empty());
    EXPECT_EQ(code(32, static_cast<Complex*>(nullptr)), Code::ok);
    EXPECT_EQ(code(64, static_cast<double*>(nullptr)), Code::ok);
  }
  set_shared_bytes_per_block(before);
  for (const LaunchRecord& launch : launches) EXPECT_LE(launch.shape.dynamic_shared, small);
}

TEST_F(QrFactorisation, Refusals) {
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

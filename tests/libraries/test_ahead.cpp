// The kernels that the library has compiled (tsm/ahead): small whole numbers, so each element must be exact, for a sample of
// widths, or with GEMM_ALL_WIDTHS=1 all of 1 to 64; rows flat, padded by 16 bytes, and padded by an element behind a
// base that is off by one.
#include <cmath>
#include <complex>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch_log.hpp"
#include "common/toolchain/jit.hpp"
#include "tests/device_test.hpp"
#include "tsm/ahead/ahead.hpp"
#include "tsm/tall_skinny.hpp"

namespace gemm {

int set_shared_bytes_per_block(int bytes);  // shared_memory.cu

namespace {

using tall_skinny::Complex;

template <class T>
T small(std::int64_t i) {
  const double re = static_cast<double>(i * 7 % 11 - 5);
  if constexpr (std::is_same_v<T, double>)
    return re;
  else
    return {re, static_cast<double>(i * 5 % 7 - 3)};
}

/// rows x cols with a leading dimension, `off` elements behind an aligned address; and NaN around it.
template <class T>
struct Matrix {
  std::int64_t rows, cols, ld, off;
  std::vector<T> host;
  DeviceArray<T> device;

  Matrix(std::int64_t rows, std::int64_t cols, std::int64_t pad, std::int64_t off, bool nan = false)
      : rows(rows), cols(cols), ld(cols + pad), off(off), host(off + rows * ld + 4, T(NAN)), device(host.size()) {
    for (std::int64_t i = 0; i < rows && !nan; ++i)
      for (std::int64_t j = 0; j < cols; ++j) at(i, j) = small<T>(i * cols + j + cols);
    copy(device.data(), host.data(), cudaMemcpyHostToDevice);
  }
  T& at(std::int64_t i, std::int64_t j) { return host[off + i * ld + j]; }
  T* data() { return device.data() + off; }
  std::vector<T> now() {
    std::vector<T> all(host.size());
    copy(all.data(), device.data(), cudaMemcpyDeviceToHost);
    return all;
  }

 private:
  void copy(T* to, const T* from, cudaMemcpyKind kind) {
    check_cuda(cudaMemcpy(to, from, host.size() * sizeof(T), kind), "copy");
  }
};

template <class T>
bool same(const std::vector<T>& x, const std::vector<T>& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i] == y[i]) && !(std::isnan(std::real(x[i])) && std::isnan(std::real(y[i])))) return false;
  return true;
}

template <class T>
T conjugate(T x, bool yes) {
  if constexpr (std::is_same_v<T, Complex>)
    return yes ? std::conj(x) : x;
  else
    return x;
}

template <class T>
std::string wrong_tsmttsm(int m, int n, std::int64_t k, int pad, int off, bool conj, T beta) {
  Matrix<T> a(k, m, pad, off), b(k, n, pad, off), c(m, n, pad, off, beta == T(0));
  const T alpha = small<T>(3);
  const DeviceArray<unsigned char> workspace(
      tall_skinny::tsmttsm_workspace(m, n, k, std::is_same_v<T, double> ? tall_skinny::Type::d : tall_skinny::Type::z));
  const auto status = tall_skinny::tsmttsm(nullptr, m, n, k, alpha, a.data(), a.ld, b.data(), b.ld, beta, c.data(),
                                           c.ld, conj, workspace.data(), workspace.size());
  if (!status) return status.reason;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T sum{};
      for (std::int64_t r = 0; r < k; ++r) sum += conjugate(a.at(r, i), conj) * b.at(r, j);
      c.at(i, j) = alpha * sum + (beta == T(0) ? T(0) : beta * c.at(i, j));
    }
  return same(c.now(), c.host) ? "" : "another result";
}

template <class T>
std::string wrong_tsmm(int m, int n, std::int64_t k, int pad, int off, T beta) {
  Matrix<T> a(k, m, pad, off), c(m, n, pad, off), b(k, n, pad, off, beta == T(0));
  const T alpha = small<T>(3);
  const auto status = tall_skinny::tsmm(nullptr, m, n, k, alpha, a.data(), a.ld, c.data(), c.ld, beta, b.data(), b.ld);
  if (!status) return status.reason;
  for (std::int64_t i = 0; i < k; ++i)
    for (int j = 0; j < n; ++j) {
      T sum{};
      for (int r = 0; r < m; ++r) sum += a.at(i, r) * c.at(r, j);
      b.at(i, j) = alpha * sum + (beta == T(0) ? T(0) : beta * b.at(i, j));
    }
  return same(b.now(), b.host) ? "" : "another result";
}

class Ahead : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && compute_capability() < 80) GTEST_SKIP() << "needs sm_80";
  }
};

template <class T>
void try_widths() {
  const bool all = std::getenv("GEMM_ALL_WIDTHS") != nullptr;
  const T one(1), none(0);
  const int compiled = jit_counters().compiled, loaded = jit_counters().on_disk;
  for (int m = 1; m <= ahead::most_columns; ++m) {
    for (int n = 1; n <= ahead::most_columns; ++n) {
      if (!all && (m * 64 + n * 29) % 97 != 0 && m * n != 1 && m * n != 4096) continue;
      // Each a whole number of stages, and more, and less; all ways in which rows lie, in turns.
      const int turn = (m + n) % 3, pad = turn == 0 ? 0 : turn == 1 ? 2 - m % 2 : 1, off = turn == 2;
      const std::int64_t k = (m + 3 * n) % 5 == 0 ? 640 : (m * n) % 70 + 1;
      const bool conj = m % 2 == 0;
      EXPECT_EQ(wrong_tsmttsm<T>(m, n, k, pad, off, conj, n % 2 ? none : one), "") << m << " x " << n << ", k = " << k;
      EXPECT_EQ(wrong_tsmm<T>(m, n, k, pad, off, m % 2 ? none : one), "") << m << " x " << n << ", k = " << k;
    }
  }
  EXPECT_EQ(jit_counters().compiled, compiled);
  EXPECT_EQ(jit_counters().on_disk, loaded);
}

TEST_F(Ahead, DoublesAreExactAndNothingIsCompiled) {
  try_widths<double>();
}
TEST_F(Ahead, ComplexNumbersAreExactAndNothingIsCompiled) {
  try_widths<Complex>();
}

// Small shared memory, as of sm_86 and sm_120: every size must fit.
TEST_F(Ahead, FitsIntoAnySharedMemory) {
  const int before = set_shared_bytes_per_block(99 * 1024);
  if (before == 0) GTEST_SKIP() << "this GPU has what it has";
  const DryRunScope only_prepared;
  std::vector<LaunchRecord> launches;
  {
    const LaunchLogScope log(launches);
    const DeviceArray<Complex> x(64 * 64);
    const DeviceArray<unsigned char> workspace(tall_skinny::tsmttsm_workspace(64, 64, 64, tall_skinny::Type::z));
    for (int m = 1; m <= 64; m += 3) {
      for (int n = 1; n <= 64; n += 3) {
        EXPECT_TRUE(tall_skinny::tsmttsm(nullptr, m, n, 64, Complex(1), x.data(), m, x.data(), n, Complex(0), x.data(),
                                         n, false, workspace.data(), workspace.size()));
        EXPECT_TRUE(
            tall_skinny::tsmm(nullptr, m, n, 64, Complex(1), x.data(), m, x.data(), n, Complex(0), x.data(), n));
      }
    }
  }
  set_shared_bytes_per_block(before);
  EXPECT_EQ(launches.size(), 22u * 22u * 3u);
  for (const LaunchRecord& launch : launches) EXPECT_LE(launch.shape.dynamic_shared, 99u * 1024u);
}

// What a width has behind its last column must not spoil it: infinite columns beside finite ones, in fragments of 4.
TEST_F(Ahead, InfinityStaysInItsRow) {
  Matrix<double> a(40, 5, 0, 0), c(5, 3, 0, 0), b(40, 3, 0, 0);
  a.at(7, 4) = INFINITY;
  check_cuda(cudaMemcpy(a.data(), a.host.data(), a.host.size() * sizeof(double), cudaMemcpyHostToDevice), "copy");
  ASSERT_TRUE(tall_skinny::tsmm(nullptr, 5, 3, 40, 1.0, a.data(), 5, c.data(), 3, 0.0, b.data(), 3));
  const std::vector<double> now = b.now();
  for (int i = 0; i < 40 * 3; ++i) EXPECT_EQ(std::isfinite(now[i]), i / 3 != 7) << i;
}

}  // namespace
}  // namespace gemm

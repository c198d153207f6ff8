// wmma_ext::tcec: every kind of fragments, on the build's device.
#include <cmath>
#include <functional>

#include "common/check/random.cuh"
#include "tests/device_test.hpp"
#include "tests/libraries/tcec_kernels.hpp"

namespace gemm::tcec_test {
namespace {

class Tcec : public DeviceTest {
 protected:
  static std::vector<Kind> kinds() {
    std::vector<Kind> here;
    for (const Kind& kind : all_kinds())
      if (!kind.needs_sm_80() || compute_capability() >= 80) here.push_back(kind);
    return here;
  }
};

using Matrix = std::vector<float>;

Matrix numbers(int count, unsigned seed, Distribution distribution = Distribution::uniform) {
  const Generator generator{distribution, seed};
  Matrix all(count);
  for (int i = 0; i < count; ++i) all[i] = generator(i);
  return all;
}

// C + A B and |C| + |A| |B| in double.
struct Exact {
  std::vector<double> sums, magnitudes;
};
Exact exact(const Shape& shape, const Matrix& a, const Matrix& b, const Matrix& c) {
  Exact result{{c.begin(), c.end()}, {}};
  for (const float x : c) result.magnitudes.push_back(std::fabs(x));
  for (int i = 0; i < shape.m; ++i) {
    for (int j = 0; j < shape.n; ++j) {
      for (int k = 0; k < shape.k; ++k) {
        const double term = static_cast<double>(a[i * shape.k + k]) * b[k * shape.n + j];
        result.sums[i * shape.n + j] += term;
        result.magnitudes[i * shape.n + j] += std::fabs(term);
      }
    }
  }
  return result;
}

double relative_error(const Matrix& got, const Exact& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += std::pow(got[i] - expected.sums[i], 2);
    norm += std::pow(expected.sums[i], 2);
  }
  return std::sqrt(difference / norm);
}

// Of |C| + |A| |B|, the largest.
double worst(const Matrix& got, const Exact& expected) {
  double result = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    result = std::fmax(result, std::fabs(got[i] - expected.sums[i]) / expected.magnitudes[i]);
  return result;
}

// Of a product: what may be lost of both factors, and what is left out. Uncorrected: of one factor.
double precision_of(const Kind& kind) {
  if (kind.by == By::plain_cores) return 0;
  if (kind.corrected) return kind.number == Number::bfloat16 ? 0x1p-22 : 0x1p-20;
  return kind.number == Number::bfloat16 ? 0x1p-8 : 0x1p-11;
}

TEST_F(Tcec, MultipliesIntegersExactly) {
  for (const Kind& kind : kinds()) {
    const Shape shape = shape_of(kind);
    const Matrix a = numbers(shape.m * shape.k, 1, Distribution::integers);
    const Matrix b = numbers(shape.k * shape.n, 2, Distribution::integers);
    const Matrix c = numbers(shape.m * shape.n, 3, Distribution::integers);
    const Exact expected = exact(shape, a, b, c);
    for (const bool c_by_rows : {true, false}) {
      for (const Rounding rounding : {Rounding::as_policy, Rounding::nearest, Rounding::towards_zero}) {
        const Matrix got = product(kind, a, b, c, 1, c_by_rows, rounding);
        EXPECT_EQ(std::vector<double>(got.begin(), got.end()), expected.sums) << kind.name();
      }
    }
  }
}

TEST_F(Tcec, IsAsPreciseAsItsParts) {
  for (const Kind& kind : kinds()) {
    const Shape shape = shape_of(kind);
    for (const Distribution distribution : {Distribution::uniform, Distribution::positive, Distribution::normal}) {
      const Matrix a = numbers(shape.m * shape.k, 1, distribution), b = numbers(shape.k * shape.n, 2, distribution);
      const Matrix c = numbers(shape.m * shape.n, 3, distribution);
      const Exact expected = exact(shape, a, b, c);
      const double sums = 0x1p-23 * (shape.k / 8 + 1);  // each step may cut off or round once
      const double error = worst(product(kind, a, b, c), expected);
      EXPECT_LE(error, precision_of(kind) * (kind.corrected ? 1 : 2) + sums) << kind.name();
      // Without correction it is not FP32: a test that can't tell would be none.
      if (!kind.corrected && kind.by != By::plain_cores) {
        EXPECT_GE(error, precision_of(kind) / 16) << kind.name();
      }
    }
  }
}

// Numbers that need all 24 bits: what each part holds is not lost.
TEST_F(Tcec, PartsHoldWhatTheySay) {
  for (const Kind& kind : kinds()) {
    const Shape shape = shape_of(kind);
    Matrix a(shape.m * shape.k), b(shape.k * shape.n), c(shape.m * shape.n);
    for (int i = 0; i < shape.m; ++i) a[i * shape.k + i % shape.k] = 1;  // picks rows of B
    const Matrix data = numbers(shape.k * shape.n, 5);
    const double bound = kind.by == By::plain_cores        ? 0
                         : !kind.corrected                 ? precision_of(kind)
                         : kind.number == Number::half     ? 0x1p-22
                         : kind.number == Number::bfloat16 ? 0x1p-24
                                                           : 0x1p-23;
    const Matrix got = product(kind, a, data, c);
    for (int i = 0; i < shape.m; ++i) {
      for (int j = 0; j < shape.n; ++j) {
        const float expected = data[i % shape.k * shape.n + j];
        EXPECT_LE(std::fabs(got[i * shape.n + j] - expected), bound * std::fabs(expected)) << kind.name();
      }
    }
  }
}

// Section 4.4.1 of the paper: fragments of (32, 32, 32) take 128 registers, n^2 / 8, half of a thread's. nvcuda::wmma's
// hold FP16 operands twice.
TEST_F(Tcec, FragmentsOfThePaperTakeHalfOfTheRegisters) {
  EXPECT_EQ(registers_of({Number::half, By::mma}), 32 * 32 / 8);
  EXPECT_EQ(registers_of({Number::half, By::wmma}), 192);
}

// Section 4.4 of the paper: Tensor Core or software systolic array, by the policy alone. Fragments of any T are then those
// of floats, bit for bit, and no number is cut to T.
TEST_F(Tcec, ThePolicyAloneBringsPlainCores) {
  int compared = 0;
  for (const Kind& kind : kinds()) {
    if (kind.by != By::plain_cores || kind.number == Number::single) continue;
    const Kind floats = {Number::single, By::plain_cores, false, kind.large, kind.col_major};
    const Shape shape = shape_of(kind);
    EXPECT_EQ(shape_of(floats).k, shape.k);
    // Beyond FP16's range, and with 24 bits.
    const Matrix a = numbers(shape.m * shape.k, 1, Distribution::wide), b = numbers(shape.k * shape.n, 2);
    const Matrix c = numbers(shape.m * shape.n, 3);
    for (const Rounding rounding : {Rounding::as_policy, Rounding::nearest, Rounding::towards_zero}) {
      EXPECT_EQ(product(kind, a, b, c, 1, true, rounding), product(floats, a, b, c)) << kind.name();
      ++compared;
    }
  }
  EXPECT_EQ(compared, 3 * 3 * 3);
}

// Many calls: rounding to nearest outside the Tensor Core against its own cutting off.
TEST_F(Tcec, PromotionIsWhatMakesLongSumsPrecise) {
  if (compute_capability() < 80) GTEST_SKIP() << "needs compute capability 8.0";
  const Kind kind;
  Shape shape = shape_of(kind);
  constexpr int steps = 64;
  shape.k *= steps;
  for (const Distribution distribution : {Distribution::uniform, Distribution::positive}) {
    const Matrix a = numbers(shape.m * shape.k, 1, distribution), b = numbers(shape.k * shape.n, 2, distribution);
    const Matrix zero(shape.m * shape.n);
    const Exact expected = exact(shape, a, b, zero);
    const double nearest = relative_error(product(kind, a, b, zero, steps), expected);
    const double cut = relative_error(product(kind, a, b, zero, steps, true, Rounding::towards_zero), expected);
    EXPECT_LE(nearest, 0x1p-21);
    EXPECT_GE(cut, 5 * nearest);
    for (const int every : {1, 2, 4})
      EXPECT_LE(relative_error(promoted_product(a, b, steps, every), expected), 0x1p-20);
    EXPECT_NEAR(relative_error(promoted_product(a, b, steps, steps), expected) / cut, 1, 1e-3);
  }
}

TEST_F(Tcec, ComplexProducts) {
  if (compute_capability() < 80) GTEST_SKIP() << "needs compute capability 8.0";
  constexpr int size = 16;
  const Matrix a = numbers(2 * size * size, 1), b = numbers(2 * size * size, 2), c = numbers(2 * size * size, 3);
  const Matrix got = complex_product(a, b, c);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      double re = c[2 * (i * size + j)], im = c[2 * (i * size + j) + 1];
      for (int k = 0; k < size; ++k) {
        const double ar = a[2 * (i * size + k)], ai = a[2 * (i * size + k) + 1];
        const double br = b[2 * (j * size + k)], bi = b[2 * (j * size + k) + 1];  // B lies column by column
        re += ar * br - ai * bi;
        im += ar * bi + ai * br;
      }
      EXPECT_NEAR(got[2 * (i * size + j)], re, 1e-5);
      EXPECT_NEAR(got[2 * (i * size + j) + 1], im, 1e-5);
    }
  }
}

// Integers, so that x[] gives what was set.
TEST_F(Tcec, ElementsCanBeReadAndSet) {
  for (const Kind& kind : kinds()) {
    const Shape shape = shape_of(kind);
    const Matrix a = numbers(shape.m * shape.k, 1, Distribution::integers);
    const Matrix b = numbers(shape.k * shape.n, 2, Distribution::integers);
    const Matrix c = numbers(shape.m * shape.n, 3, Distribution::integers);
    const Elements got = through_elements(kind, a, b, c);
    const auto changed = [](Matrix m) {
      for (float& x : m) x = 2 * x + 1;
      return m;
    };
    EXPECT_EQ(got.a, changed(a)) << kind.name();
    EXPECT_EQ(got.b, changed(b)) << kind.name();
    EXPECT_EQ(got.c, changed(c)) << kind.name();
  }
}

TEST_F(Tcec, Vectors) {
  for (const Kind& kind : kinds()) {
    const Shape shape = shape_of(kind);
    Matrix v(32);
    for (int i = 0; i < 32; ++i) v[i] = i + 1;
    const Matrix c = numbers(shape.m * shape.n, 3, Distribution::integers);
    const Vectors got = vectors(kind, v, c);
    const auto expected = [&](int rows, int cols, bool as_row) {
      Matrix m(rows * cols);
      for (int i = 0; i < (as_row ? cols : rows); ++i) m[as_row ? i : i * cols] = v[i];
      return m;
    };
    for (const bool as_row : {false, true}) {
      const Elements& elements = as_row ? got.as_row : got.as_column;
      EXPECT_EQ(elements.a, expected(shape.m, shape.k, as_row)) << kind.name();
      EXPECT_EQ(elements.b, expected(shape.k, shape.n, as_row)) << kind.name();
      EXPECT_EQ(elements.c, expected(shape.m, shape.n, as_row)) << kind.name();
    }
    for (int i = 0; i < shape.m; ++i) EXPECT_EQ(got.stored_column[i], c[i * shape.n]) << kind.name();
    for (int j = 0; j < shape.n; ++j) EXPECT_EQ(got.stored_row[j], c[j]) << kind.name();
  }
}

}  // namespace
}  // namespace gemm::tcec_test

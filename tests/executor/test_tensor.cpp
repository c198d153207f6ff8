// Tensor Cores, ldmatrix and cp.async, on the build's device: the executor, or a GPU with its own headers and
// instructions. Small integers, so that every product and every sum is exact on both.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "tests/device_test.hpp"
#include "tests/executor/tensor_kernels.hpp"

namespace gemm {
namespace {

using namespace tensor_test;

using Matrix = std::vector<double>;

// Integers from -bound to bound, of which no row or column is like another.
Matrix integers(int count, unsigned seed, int bound) {
  Matrix matrix(count);
  for (double& x : matrix) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<int>((seed >> 16) % (2 * bound + 1)) - bound;
  }
  return matrix;
}

Matrix product(int m, int n, int k, const Matrix& a, const Matrix& b, const Matrix& c) {
  Matrix d = c;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l < k; ++l) d[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return d;
}

// Skips the test where the device lacks what it tests.
#define NEED_CC(tenfold) \
  if (compute_capability() < (tenfold)) GTEST_SKIP() << "needs compute capability " << (tenfold) / 10.0

class Tensor : public DeviceTest {};

std::string name_of(const WmmaCase& c) {
  const char* types[] = {"half_float", "half_half", "half_mixed", "bf16_float", "tf32_float", "f64"};
  return std::string(types[static_cast<int>(c.type)]) + " " + std::to_string(c.m) + "x" + std::to_string(c.n) + "x" +
         std::to_string(c.k) + (c.a_by_rows ? " row" : " col") + (c.b_by_rows ? " row" : " col") +
         (c.c_by_rows ? " row" : " col") + (c.in_shared ? " shared" : " global");
}

// Every shape, type and layout that nvcuda::wmma has here and this device knows.
std::vector<WmmaCase> all_cases() {
  struct Shape {
    int m, n, k;
  };
  std::vector<WmmaCase> cases;
  for (int type = 0; type < 6; ++type) {
    if (type >= static_cast<int>(WmmaType::bf16_float) && compute_capability() < 80) continue;
    std::vector<Shape> shapes = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
    if (static_cast<WmmaType>(type) == WmmaType::tf32_float) shapes = {{16, 16, 8}};
    if (static_cast<WmmaType>(type) == WmmaType::f64) shapes = {{8, 8, 4}};
    for (const auto& [m, n, k] : shapes) {
      for (int i = 0; i < 16; ++i) {
        cases.push_back({static_cast<WmmaType>(type), m, n, k, !!(i & 1), !!(i & 2), !!(i & 4), !!(i & 8)});
      }
    }
  }
  return cases;
}

TEST_F(Tensor, WmmaMultipliesExactly) {
  for (const WmmaCase& c : all_cases()) {
    const Matrix a = integers(c.m * c.k, 1, 8), b = integers(c.k * c.n, 2, 8), start = integers(c.m * c.n, 3, 50);
    EXPECT_EQ(wmma_product(c, a, b, start).d, product(c.m, c.n, c.k, a, b, start)) << name_of(c);
  }
}

// The place (row, column) of element i of a lane, written down from PTX's documentation of mma.sync.
struct Place {
  int row, col;
};
Place in_a16(int lane, int i) {
  const int rows[] = {0, 0, 8, 8, 0, 0, 8, 8}, cols[] = {0, 1, 0, 1, 8, 9, 8, 9};
  return {lane / 4 + rows[i], 2 * (lane % 4) + cols[i]};
}
Place in_b16(int lane, int i) {
  const int rows[] = {0, 1, 8, 9};
  return {2 * (lane % 4) + rows[i], lane / 4};
}
Place in_c(int lane, int i) {
  const int rows[] = {0, 0, 8, 8}, cols[] = {0, 1, 0, 1};
  return {lane / 4 + rows[i], 2 * (lane % 4) + cols[i]};
}

// What wmma makes of them: two instructions, whose second operand B, A or (transposed) B comes behind the first.
Place expected_place(const WmmaCase& c, char matrix, int lane, int i) {
  const int g = lane / 4, t = lane % 4;
  if (c.k == 4) return matrix == 'a' ? Place{g, t} : matrix == 'b' ? Place{t, g} : in_c(lane, i);
  if (c.k == 8 && matrix == 'a') return {g + (i & 1) * 8, t + (i >> 1) * 4};
  if (c.k == 8 && matrix == 'b') return {t + (i & 1) * 4, g + (i >> 1) * 8};
  if (c.m == 8) {
    Place p = matrix == 'a' ? in_b16(lane, i % 4) : matrix == 'b' ? in_a16(lane, i % 8) : in_c(lane, i % 4);
    if (matrix == 'b') p.row += i / 8 * 16;
    if (matrix == 'c') p.row += i / 4 * 16;
    return {p.col, p.row};
  }
  if (matrix == 'a') return {in_a16(lane, i % 8).row + (c.m == 32 ? i / 8 * 16 : 0), in_a16(lane, i % 8).col};
  if (matrix == 'b') return {in_b16(lane, i % 4).row, in_b16(lane, i % 4).col + (c.n == 16 ? i / 4 % 2 * 8 : 0)};
  const Place p = in_c(lane, i % 4);
  return c.m == 32 ? Place{p.row + i / 4 * 16, p.col} : Place{p.row, p.col + i / 4 * 8};
}

// Each element tells its row, then its column: both are exact even in bfloat16.
TEST_F(Tensor, WmmaFragmentsHoldWhatMmaSyncHolds) {
  NEED_CC(80);  // Turing's differ
  const auto tell = [](int rows, int cols, bool row) {
    Matrix matrix(rows * cols);
    for (int i = 0; i < rows * cols; ++i) matrix[i] = row ? i / cols : i % cols;
    return matrix;
  };
  for (const WmmaCase& c : all_cases()) {
    for (const bool row : {true, false}) {
      const WmmaResult result = wmma_product(c, tell(c.m, c.k, row), tell(c.k, c.n, row), tell(c.m, c.n, row));
      const auto check = [&](char matrix, const std::vector<double>& x) {
        const int held = static_cast<int>(x.size()) / 32;
        int wrong = 0;
        for (int i = 0; i < 32 * held; ++i) {
          const Place p = expected_place(c, matrix, i / held, i % held);
          wrong += !(x[i] == (row ? p.row : p.col));
        }
        EXPECT_EQ(wrong, 0) << name_of(c) << ", matrix " << matrix << (row ? ", rows" : ", columns");
      };
      check('a', result.a_x);
      check('b', result.b_x);
      check('c', result.c_x);
    }
  }
}

TEST_F(Tensor, WmmaRoundsItsOperandsToTf32) {
  NEED_CC(80);
  const WmmaCase c{WmmaType::tf32_float, 16, 16, 8, true, true, true, true};
  Matrix a(16 * 8), b(8 * 16), zero(16 * 16);
  a[0] = 1 + std::ldexp(1, -11);  // a tie between 1 and the next number of 11 bits: away from zero
  a[8] = 1 + std::ldexp(1, -12);
  b[0] = 1;
  const Matrix d = wmma_product(c, a, b, zero).d;
  EXPECT_EQ(d[0], 1 + std::ldexp(1, -10));
  EXPECT_EQ(d[16], 1);
}

TEST_F(Tensor, MmaSyncMultipliesExactly) {
  struct Case {
    MmaType type;
    int m, n, k, needs;
  };
  for (const auto& [type, m, n, k, needs] :
       {Case{MmaType::m16n8k16_f32_f16, 16, 8, 16, 80}, Case{MmaType::m16n8k16_f16_f16, 16, 8, 16, 80},
        Case{MmaType::m16n8k16_f32_bf16, 16, 8, 16, 80}, Case{MmaType::m16n8k8_f32_f16, 16, 8, 8, 75},
        Case{MmaType::m16n8k8_f16_f16, 16, 8, 8, 75}, Case{MmaType::m16n8k8_f32_tf32, 16, 8, 8, 80},
        Case{MmaType::m8n8k4_f64, 8, 8, 4, 80}, Case{MmaType::m16n8k4_f64, 16, 8, 4, 80}}) {
    if (compute_capability() < needs) continue;
    for (unsigned seed = 1; seed < 4; ++seed) {
      const Matrix a = integers(m * k, seed, 8), b = integers(k * n, seed + 10, 8), c = integers(m * n, seed + 20, 50);
      EXPECT_EQ(mma_product(type, a, b, c), product(m, n, k, a, b, c)) << "type " << static_cast<int>(type);
    }
  }
}

// bfloat16 and tf32 have the range of float, double has 53 bits.
TEST_F(Tensor, MmaSyncHasTheRangeOfItsTypes) {
  NEED_CC(80);
  Matrix a(16 * 16), b(16 * 8), c(16 * 8);
  a[0] = std::ldexp(1, 100);
  b[0] = std::ldexp(3, -120);
  EXPECT_EQ(mma_product(MmaType::m16n8k16_f32_bf16, a, b, c)[0], std::ldexp(3, -20));
  a.resize(16 * 8), b.resize(8 * 8);
  EXPECT_EQ(mma_product(MmaType::m16n8k8_f32_tf32, a, b, c)[0], std::ldexp(3, -20));
  a.resize(8 * 4), b.resize(4 * 8), c.resize(8 * 8);
  a[0] = 1 + std::ldexp(1, -30), b[0] = 1 - std::ldexp(1, -30), c[0] = -1;
  EXPECT_EQ(mma_product(MmaType::m8n8k4_f64, a, b, c)[0], -std::ldexp(1, -60)) << "a chain of FMAs";
}

// Element (0, 0) of C + A B, its 16 products all `product`; or only the first.
double sum_of(MmaType type, double c, double product, bool all) {
  Matrix a(16 * 16), b(16 * 8), sum(16 * 8);
  const int exponent = std::ilogb(product) / 2;  // both factors must be normal FP16 numbers
  for (int k = 0; k < (all ? 16 : 1); ++k) {
    a[k] = std::ldexp(product, -exponent);
    b[8 * k] = std::ldexp(1, exponent);
  }
  sum[0] = c;
  return mma_product(type, a, b, sum)[0];
}

TEST_F(Tensor, SumsAreCutOff) {
  NEED_CC(80);
  const auto type = MmaType::m16n8k16_f32_f16;
  EXPECT_EQ(sum_of(type, 1, std::ldexp(1.5, -24), false), 1) << "the next number is nearer";
  EXPECT_EQ(sum_of(type, -1, -std::ldexp(1.5, -24), false), -1);
  EXPECT_EQ(sum_of(type, 1, std::ldexp(1, -23), false), 1 + std::ldexp(1, -23));
  // FP16 sums are rounded to nearest.
  EXPECT_EQ(sum_of(MmaType::m16n8k16_f16_f16, 1, std::ldexp(1.5, -11), false), 1 + std::ldexp(1, -10));
}

// How many bits below a float's last one sm_90 keeps while it adds up, and the executor.
TEST_F(Tensor, TwoMoreBitsAreKept) {
  if (open_device().gpu && compute_capability() != 90) GTEST_SKIP() << "other GPUs keep other bits";
  const auto type = MmaType::m16n8k16_f32_f16;
  EXPECT_EQ(sum_of(type, 1, -std::ldexp(1, -25), false), 1 - std::ldexp(1, -24)) << "the second bit counts";
  EXPECT_EQ(sum_of(type, 1, -std::ldexp(1, -26), false), 1) << "the third doesn't";
  EXPECT_EQ(sum_of(type, 1, std::ldexp(1, -25), true), 1 + std::ldexp(1, -21)) << "sixteen of them";
  EXPECT_EQ(sum_of(type, 1, std::ldexp(1, -26), true), 1);
}

TEST_F(Tensor, LdmatrixDistributesAsDocumented) {
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      std::vector<std::uint32_t> expected;
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < matrices; ++i) {
          const auto element = [&](unsigned row, unsigned col) { return 64 * i + 8 * row + col; };
          const unsigned g = lane / 4, t = lane % 4;
          expected.push_back(transposed ? element(2 * t, g) | element(2 * t + 1, g) << 16
                                        : element(g, 2 * t) | element(g, 2 * t + 1) << 16);
        }
      }
      EXPECT_EQ(ldmatrix(matrices, transposed), expected) << matrices << (transposed ? " transposed" : "");
    }
  }
}

TEST_F(Tensor, CopyAsyncCopiesAndFillsWithZeros) {
  NEED_CC(80);
  for (const int bytes : {4, 8, 16}) {
    std::vector<std::uint8_t> from(64 * bytes);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i * 37 + i / 256 + 1);
    for (const bool around_l1 : {false, true}) {
      if (around_l1 && bytes < 16) continue;
      for (int source = 0; source <= bytes; ++source) {
        std::vector<std::uint8_t> expected = from;
        for (std::size_t i = 0; i < from.size(); ++i) {
          if (static_cast<int>(i) % bytes >= source) expected[i] = 0;
        }
        EXPECT_EQ(copy_async(bytes, around_l1, source, from), expected) << source << " of " << bytes << " bytes";
      }
    }
  }
}

TEST_F(Tensor, CopyAsyncWaitsForTheRightGroup) {
  NEED_CC(80);
  for (const int tiles : {1, 2, 3, 10}) {
    std::vector<float> from(tiles * 128);
    std::iota(from.begin(), from.end(), 1.0f);
    EXPECT_EQ(copy_in_stages(tiles, from), from) << tiles;
  }
}

}  // namespace
}  // namespace gemm

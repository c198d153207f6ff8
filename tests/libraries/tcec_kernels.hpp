// Products with wmma_ext::tcec's fragments, one warp each, and what the fragments hold.
#pragma once

#include <string>
#include <vector>

namespace gemm::tcec_test {

enum class Number { half, tf32, bfloat16, single };
enum class By { mma, wmma, plain_cores };
enum class Rounding { as_policy, nearest, towards_zero };

struct Kind {
  Number number = Number::half;
  By by = By::mma;
  bool corrected = true;
  bool large = true;       // 32 x 32 x 32, else the policy's shape
  bool col_major = false;  // A and B

  std::string name() const;
  /// Tensor Cores of compute capability 8.0, else 7.5 will do.
  bool needs_sm_80() const { return by != By::plain_cores && !(number == Number::half && by == By::wmma); }
};

/// Every kind that has a kernel.
std::vector<Kind> all_kinds();

struct Shape {
  int m = 0, n = 0, k = 0;
};
Shape shape_of(const Kind& kind);

/// 32-bit registers of a lane that fragments of A, B and C take.
int registers_of(const Kind& kind);

/// C + A B, row by row: A is m x (steps k), B (steps k) x n, multiplied in `steps` calls. c_by_rows: how the kernel loads and
/// stores C. In memory rows (or columns) have four elements of padding, which must be as before: throws if not.
std::vector<float> product(const Kind& kind, const std::vector<float>& a, const std::vector<float>& b,
                           const std::vector<float>& c, int steps = 1, bool c_by_rows = true,
                           Rounding rounding = Rounding::as_policy);

/// The same (row-major) by towards-zero sums of `every` calls, promoted. FP16 by mma.sync, 32 x 32 x 32.
std::vector<float> promoted_product(const std::vector<float>& a, const std::vector<float>& b, int steps, int every);

/// The same of complex numbers (real and imaginary parts in turn), in one call. FP16 by mma.sync, 16 x 16 x 16.
std::vector<float> complex_product(const std::vector<float>& a, const std::vector<float>& b,
                                   const std::vector<float>& c);

/// What a kind's fragments of A, B and C make of such a matrix: all elements doubled and one added through x[], each
/// seen by its row and column. An error if a lane's elements and foreach_ij's places don't agree with the matrix.
struct Elements {
  std::vector<float> a, b, c;  // rows x cols
};
Elements through_elements(const Kind& kind, const std::vector<float>& a, const std::vector<float>& b,
                          const std::vector<float>& c);

/// A vector into the first column and, after that, the first row of A, B and C, each read back by rows.
struct Vectors {
  Elements as_column, as_row;
  std::vector<float> stored_column, stored_row;  // of C = c
};
Vectors vectors(const Kind& kind, const std::vector<float>& v, const std::vector<float>& c);

}  // namespace gemm::tcec_test

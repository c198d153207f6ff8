// When a result is right. Two conditions, both: every element within its bound, and the whole within a norm-wise bound.
//
//   element:    |C - C64| <= 4 u sqrt(K) (|alpha| |A||B| + |beta| |C|)        for each element
//   Frobenius:  ||C - C64||_F <= 4 u sqrt(K) S,   S = max(||C64||_F, ||magnitude||_F / sqrt(K))
//
// Real and imaginary part count as an element each, whose sum has 2K products.
// u is the unit roundoff of the arithmetic the stage declares. sqrt(K) and not K: rounding errors add up like a random
// walk (Higham and Mary 2019), and a bound that grows like K would let a whole dropped product through from K = 8192
// on. The element bound finds single wrong elements, the Frobenius bound finds arithmetic that is too coarse
// everywhere. S is
// ||C64||_F on random signed data; the second term keeps it sensible when a few elements happen to cancel.
// The factor 4 covers K = 1 strictly (three roundings for alpha * a * b + beta * c); docs/concepts/checking.md holds
// the measured margin on either side.
#pragma once

#include <cstdint>
#include <string>

#include "common/check/reference.hpp"
#include "common/problem/problem.hpp"
#include "common/problem/registry.hpp"

namespace gemm {

/// The unit roundoff: half the distance from 1 to the next number.
constexpr double unit_roundoff(Accuracy accuracy) {
  switch (accuracy) {
    case Accuracy::tf32:
      return 0x1p-11;
    case Accuracy::fp64:
      return 0x1p-53;
    case Accuracy::tensor_fp32:  // cut off: a whole unit in the last place may be lost, not half of one
      return 0x1p-23;
    default:
      return 0x1p-24;
  }
}

/// 4 u sqrt(K), with K >= 1.
double tolerance(Accuracy accuracy, std::int64_t k);

struct Comparison {
  double max_ratio = 0;          ///< largest |C - C64| over its bound; infinity if anything is NaN
  double frobenius = 0;          ///< ||C - C64||_F / S
  double frobenius_ratio = 0;    ///< the same over 4 u sqrt(K)
  double residual = 0;           ///< ||C - C64||_F / ||C64||_F, without the second term in S
  double max_of_magnitudes = 0;  ///< largest |C - C64| / (|alpha| |A||B| + |beta| |C|)
  double max_relative = 0;       ///< largest |C - C64| / |C64|: large where terms cancel, whoever adds them up
  bool exact = false;            ///< on whole numbers: right or wrong, and no error to measure
  std::int64_t elements = 0;     ///< real numbers, two of a complex one
  std::int64_t wrong = 0;        ///< of them those past their bound (or not equal, for integers)
  std::int64_t unwritten = 0;    ///< elements that still hold the poison
  double largest = 0;            ///< the largest magnitude, to see that integers stay exact
  std::int64_t worst_row = 0, worst_col = 0;
  double got = 0, expected = 0;
  int digits = 9;            ///< that tell them apart
  const char* result = "C";  ///< the name of the matrix

  /// False for NaN, too.
  bool passed() const { return wrong == 0 && max_ratio <= 1.0 && frobenius_ratio <= 1.0; }
  /// What is wrong, for people; empty if passed.
  std::string reason() const;
};

/// Compares the result with the reference. With `exact`, every element must equal the reference rounded to its type,
/// which is sound while all sums of magnitudes stay below 2^24 (FP32) or 2^53.
Comparison compare(const Problem& problem, const Reference& reference, Accuracy accuracy, bool exact);

}  // namespace gemm

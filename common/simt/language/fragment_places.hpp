// nvcuda::wmma's fragments, made of those of mma.sync (common/simt/language/tensor.hpp), as compilers for sm_80 and
// later do it:
//
//   16x16x16, 16x16x8  two instructions side by side: A is shared; B and C have columns 0-7, then 8-15
//   32x8x16            two instructions, one below the other: B is shared; A and C have rows 0-15, then 16-31
//   8x32x16            the transposed product, C' = B' A': B is the operand with 16 rows, then 16 more
//   8x8x4              one instruction
//
// CUDA documents none of this; a kernel that relies on it says for which architectures.
#pragma once

#include <type_traits>

#include "common/simt/language/tensor.hpp"

namespace nvcuda::wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision {
struct tf32;
}
}  // namespace nvcuda::wmma

namespace simt {

/// The shape m x n x k of one wmma product, and the elements of T that its fragments hold.
template <class Use, int m, int n, int k, class T>
struct FragmentPlaces {
  static constexpr bool is_a = std::is_same_v<Use, nvcuda::wmma::matrix_a>;
  static constexpr bool is_b = std::is_same_v<Use, nvcuda::wmma::matrix_b>;
  static constexpr bool transposed = m == 8 && n == 32;
  /// Elements of the matrix that a lane holds.
  static constexpr int held = (is_a ? m * k : is_b ? k * n : m * n) / 32;

  /// Are elements 2 i and 2 i + 1 neighbours in the matrix? If so, in a row or in a column?
  static constexpr bool paired_in_row() { return held > 1 && place(0, 1).col == place(0, 0).col + 1; }
  static constexpr bool paired_in_column() { return held > 1 && place(0, 1).row == place(0, 0).row + 1; }

  /// Row and column of element i < held of a lane.
  __forceinline__ static constexpr Place place(int lane, int i) {
    if (is_a) return transposed ? swap(narrow_operand(lane, i)) : tall_operand(lane, i);
    if (is_b) return transposed ? swap(tall_operand(lane, i)) : narrow_operand(lane, i);
    Place p = place_in_c(lane, i % 4);
    (n == 16 ? p.col : p.row) += i / 4 * (n == 16 ? 8 : 16);
    return transposed ? swap(p) : p;
  }

 private:
  __forceinline__ static constexpr Place swap(Place p) { return {p.col, p.row}; }

  // What the instruction takes as A: 16 rows (8 for double), and 16 more in 32x8x16 and 8x32x16.
  __forceinline__ static constexpr Place tall_operand(int lane, int i) {
    if (k == 4) return place_in_a64(lane, i);
    if (k == 8) return place_in_a32(lane, i);
    Place p = place_in_a16(lane, i % 8);
    p.row += i / 8 * 16;
    return p;
  }
  // What it takes as B: 8 columns, and 8 more in 16x16x16 and 16x16x8.
  __forceinline__ static constexpr Place narrow_operand(int lane, int i) {
    if (k == 4) return place_in_b64(lane, i);
    Place p = k == 8 ? place_in_b32(lane, i % 2) : place_in_b16(lane, i % 4);
    p.col += i / (k / 4) * 8;
    return p;
  }
};

}  // namespace simt

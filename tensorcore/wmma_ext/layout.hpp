// Which element of the matrix is element i of a lane's fragment, and where element (row, col) is held.
//
// A warp's lanes form 8 groups of 4: g = lane / 4, t = lane % 4. In every fragment g counts rows (or columns) modulo 8
// and t counts along the other dimension, in steps of one element or of a pair. The bits of i say the rest. So a
// layout is five numbers and no table, and the way back from (row, col) is as short as the way there.
//
// Sources. mma.sync: PTX ISA, "Matrix Fragments for mma.m16n8k16" and its neighbours. nvcuda::wmma: CUDA leaves it
// open; compilers make 16x16 of two instructions side by side, 32x8 of two one below the other, and 8x32 of the
// transposed product. tests/executor/fragment_layouts.py reads that in the machine code which nvcc makes for sm_75, 80, 86, 89,
// 90, 100 and 120, and self_test() on the GPU. sm_70 is refused: several lanes hold one element there (tensorcore/README.md
// has its layouts), and CUDA 13 compiles nothing for it, so that no test could be run.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <type_traits>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 750
#error "wmma_ext needs sm_75: on sm_70 several lanes hold one element, and CUDA 13 has no sm_70 (tensorcore/README.md)"
#endif

// For kernels that are compiled for sm_75 CUDA's header doesn't declare it.
namespace nvcuda::wmma::precision {
struct tf32;
}

namespace wmma_ext {

using nvcuda::wmma::accumulator;
using nvcuda::wmma::col_major;
using nvcuda::wmma::matrix_a;
using nvcuda::wmma::matrix_b;
using nvcuda::wmma::row_major;
namespace precision = nvcuda::wmma::precision;

/// An element's place in the matrix.
struct position {
  int row, col;
};

/// What a fragment's x[] is made of: T, but float for tf32.
template <class T>
using storage_t = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;

/// The layout of one kind of fragment.
struct layout {
  bool groups_are_rows = true;  ///< g is the row modulo 8, and t along the row; else columns for rows
  int step = 0;                 ///< t counts 1 << step elements
  int bits = 0;                 ///< the lane holds 1 << bits elements
  // Loops over them are unrolled: these arrays, indexed by a variable, would lie in local memory.
  static constexpr int most_bits = 4;
  bool of_row[most_bits] = {};  ///< bit b of an element's number is a bit of its row, else of its column
  int bit[most_bits] = {};      ///< and this one

  /// Row and column of element i < 1 << bits of a lane.
  __host__ __device__ constexpr position place(int lane, int i) const {
    const int group = lane / 4, along = lane % 4 << step;
    position p = groups_are_rows ? position{group, along} : position{along, group};
#pragma unroll
    for (int b = 0; b < most_bits; ++b) (of_row[b] ? p.row : p.col) += (i >> b & 1) << bit[b];
    return p;
  }

  /// The lane that holds (row, col), and the number that the element has there.
  __host__ __device__ constexpr int lane(int row, int col) const {
    return groups_are_rows ? row % 8 * 4 + (col >> step) % 4 : col % 8 * 4 + (row >> step) % 4;
  }
  __host__ __device__ constexpr int element(int row, int col) const {
    int i = 0;
#pragma unroll
    for (int b = 0; b < most_bits; ++b) {
      if (b < bits) i |= ((of_row[b] ? row : col) >> bit[b] & 1) << b;
    }
    return i;
  }

  /// Are elements 2 i and 2 i + 1 neighbours in a row, or in a column?
  __host__ __device__ constexpr bool paired_in_row() const {
    return bits > 0 && bit[0] == 0 && !of_row[0];
  }
  __host__ __device__ constexpr bool paired_in_column() const {
    return bits > 0 && bit[0] == 0 && of_row[0];
  }

  __host__ __device__ constexpr void add(bool row, int number) {
    of_row[bits] = row;
    bit[bits] = number;
    ++bits;
  }
  __host__ __device__ constexpr void transpose() {
    groups_are_rows = !groups_are_rows;
    for (int b = 0; b < bits; ++b) of_row[b] = !of_row[b];
  }
};

/// The layout of A, B or an accumulator of the product m x n x k, of nvcuda::wmma or of mma.sync: they have one shape
/// in common, 8 x 8 x 4, which is one instruction in both. T: __half, __nv_bfloat16, precision::tf32, float
/// (accumulators) or double.
template <class Use, int m, int n, int k, class T>
__host__ __device__ constexpr layout layout_of() {
  constexpr bool transposed = m == 8 && n == 32;
  constexpr bool is_c = std::is_same_v<Use, accumulator>;
  // What the instruction takes as A has many rows, what it takes as B at most 16 columns.
  constexpr bool is_a = std::is_same_v<Use, std::conditional_t<transposed, matrix_b, matrix_a>>;
  constexpr int rows = transposed ? n : m, cols = transposed ? m : n;
  layout l;
  l.groups_are_rows = is_c || is_a;
  l.step = is_c || sizeof(storage_t<T>) == 2 ? 1 : 0;  // pairs of 16-bit operands share a register
  const bool far_k = k > 4 << l.step;                  // k is twice what the lanes of a group reach
  if (l.step == 1) l.add(!l.groups_are_rows, 0);
  if ((is_c || is_a) && rows >= 16) l.add(true, 3);
  if (is_a && far_k) l.add(false, 2 + l.step);
  if (!is_c && !is_a && far_k) l.add(true, 2 + l.step);
  if (!is_a && cols == 16) l.add(false, 3);
  if ((is_c || is_a) && rows == 32) l.add(true, 4);
  if (transposed) l.transpose();
  return l;
}

/// Row and column of element i of a lane's fragment, i < held; Layout (how the matrix lies in memory) changes nothing.
template <class Use, int m, int n, int k, class T, class Layout = void>
__host__ __device__ constexpr position place(int lane, int i) {
  return layout_of<Use, m, n, k, T>().place(lane, i);
}

}  // namespace wmma_ext

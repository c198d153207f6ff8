// Fragments from FP32 matrices and vectors in memory, and back: an operand is split on its way into registers, and no
// other memory is touched. All lanes of the warp must call these functions together, with equal arguments.
#pragma once

#include "fragment.hpp"

namespace wmma_ext::tcec {
namespace detail {

/// Calls pair(i, offset) for elements i and i + 1 that adjoin in memory, or one(i, offset).
template <any_fragment F, class Pair, class One>
__device__ __forceinline__ void in_memory(unsigned ldm, bool by_rows, Pair pair, One one) {
  using part = typename F::part_type;
  constexpr int held = fragment_traits<part>::held;
#pragma unroll
  for (int tile = 0; tile < F::down * F::across; ++tile) {
    const int row = tile / F::across * F::part_rows, col = tile % F::across * F::part_cols;
    const std::size_t first = by_rows ? std::size_t{ldm} * row + col : std::size_t{ldm} * col + row;
    wmma_ext::detail::in_memory<part>(
        ldm, by_rows, [&](int i, std::size_t offset) { pair(tile * held + i, first + offset); },
        [&](int i, std::size_t offset) { one(tile * held + i, first + offset); });
  }
}

template <any_fragment F>
__device__ __forceinline__ void load(F& fragment, const float* p, unsigned ldm, bool by_rows) {
  float v[F::num_elements];
  in_memory<F>(
      ldm, by_rows, [&](int i, std::size_t offset) { wmma_ext::detail::load_pair(v + i, p + offset); },
      [&](int i, std::size_t offset) { v[i] = p[offset]; });
#pragma unroll
  for (int i = 0; i < F::num_elements; ++i) fragment.x.set(i, v[i]);
}

}  // namespace detail

/// Loads A or B. As with nvcuda::wmma p must be aligned to 32 bytes and ldm, the number of elements from one row
/// (column) to the next, be a multiple of 4.
template <class Use, int m, int n, int k, class T, class Layout, class Policy>
requires(!std::is_void_v<Layout>) __device__ __forceinline__
    void load_matrix_sync(fragment<Use, m, n, k, T, Layout, Policy>& a, const float* p, unsigned ldm) {
  detail::load(a, p, ldm, std::is_same_v<Layout, row_major>);
}
/// Loads C.
template <int m, int n, int k, class T, class Policy>
__device__ __forceinline__ void load_matrix_sync(fragment<accumulator, m, n, k, T, void, Policy>& c, const float* p,
                                                 unsigned ldm, memory_order order) {
  detail::load(c, p, ldm, order == nvcuda::wmma::mem_row_major);
}

/// Stores D. p and ldm: as for loads.
template <int m, int n, int k, class T, class Policy>
__device__ __forceinline__ void store_matrix_sync(float* p, const fragment<accumulator, m, n, k, T, void, Policy>& d,
                                                  unsigned ldm, memory_order order) {
  detail::in_memory<fragment<accumulator, m, n, k, T, void, Policy>>(
      ldm, order == nvcuda::wmma::mem_row_major,
      [&](int i, std::size_t offset) {
        const float two[2] = {d.x[i], d.x[i + 1]};
        wmma_ext::detail::store_pair(p + offset, two);
      },
      [&](int i, std::size_t offset) { p[offset] = d.x[i]; });
}

/// A matrix of zeros but for the vector v in its first column (order mem_col_major: `rows` elements) or its first row
/// (mem_row_major: `cols`). Lanes that hold none of it read nothing.
template <any_fragment F>
__device__ __forceinline__ void load_vector(F& fragment, const float* v, memory_order order) {
  const bool column = order == nvcuda::wmma::mem_col_major;
  foreach_ij<F>([&](int e, int i, int j) { fragment.x.set(e, (column ? j : i) == 0 ? v[column ? i : j] : 0.0f); });
}
/// An operand of type col_major takes it as a column, of type row_major as a row.
template <class Use, int m, int n, int k, class T, class Layout, class Policy>
requires(!std::is_void_v<Layout>) __device__ __forceinline__
    void load_vector(fragment<Use, m, n, k, T, Layout, Policy>& a, const float* v) {
  load_vector(a, v, std::is_same_v<Layout, row_major> ? nvcuda::wmma::mem_row_major : nvcuda::wmma::mem_col_major);
}

/// Writes the first column (order mem_col_major) or the first row (mem_row_major) to v.
template <any_fragment F>
__device__ __forceinline__ void store_vector(float* v, const F& fragment, memory_order order) {
  const bool column = order == nvcuda::wmma::mem_col_major;
  foreach_ij<F>([&](int e, int i, int j) {
    if ((column ? j : i) == 0) v[column ? i : j] = fragment.x[e];
  });
}

}  // namespace wmma_ext::tcec

// Fragments by a rule: each lane is told which elements of the matrix it holds, and sets them. No memory is touched.
// Source: Ootomo and Yokota (2023), section 4.2. None of these functions needs the warp's lanes together.
#pragma once

#include <concepts>
#include <utility>

#include "fragment.hpp"

namespace wmma_ext {

/// Calls f(indices, i, j) for each element (i, j) of the matrix that the calling lane holds; indices lists where in
/// x[]:
///
///   foreach_ij<decltype(u)>([&](auto indices, int i, int j) {
///     for (unsigned index : indices) u.x[index] = i <= j ? 1 : 0;
///   });
///
/// f may set any number of fragments of this type at once: what it costs to find i and j is spent once.
template <any_fragment Fragment, class Function>
__device__ __forceinline__ void foreach_ij(Function&& f) {
  using traits = fragment_traits<Fragment>;
  const int lane = lane_id();
#pragma unroll
  for (int e = 0; e < traits::held; ++e) {
    const position p = traits::place(lane, e);
    f(traits::indices(e), p.row, p.col);
  }
}

/// The same, for the type of the fragments that f sets, which must be one.
template <class Function, any_fragment Fragment, std::same_as<Fragment>... More>
__device__ __forceinline__ void foreach_ij(Function&& f, const Fragment&, const More&...) {
  foreach_ij<Fragment>(std::forward<Function>(f));
}

/// Calls f(indices, memory_index) for each element that the calling lane holds: the element's index in a matrix without
/// padding that lies in memory as `order` says.
template <any_fragment Fragment, class Function>
__device__ __forceinline__ void foreach(Function&& f, memory_order order) {
  using traits = fragment_traits<Fragment>;
  foreach_ij<Fragment>([&](auto indices, int i, int j) {
    f(indices, order == nvcuda::wmma::mem_row_major ? i * traits::cols + j : j * traits::rows + i);
  });
}
/// An operand's type says how it lies in memory.
template <operand_fragment Fragment, class Function>
__device__ __forceinline__ void foreach(Function&& f) {
  foreach<Fragment>(std::forward<Function>(f), detail::order_of<Fragment>);
}
/// Both, for the type of the fragments that f sets.
template <class Function, any_fragment Fragment, std::same_as<Fragment>... More>
__device__ __forceinline__ void foreach(Function&& f, memory_order order, const Fragment&, const More&...) {
  foreach<Fragment>(std::forward<Function>(f), order);
}
template <class Function, operand_fragment Fragment, std::same_as<Fragment>... More>
__device__ __forceinline__ void foreach(Function&& f, const Fragment&, const More&...) {
  foreach<Fragment>(std::forward<Function>(f));
}

/// Calls f(indices, i) for each element i of a vector that the calling lane holds: the first column of the matrix if
/// order is mem_col_major (so there are `rows` elements), the first row (`cols`) if mem_row_major.
template <any_fragment Fragment, class Function>
__device__ __forceinline__ void foreach_v(Function&& f, memory_order order) {
  foreach_ij<Fragment>([&](auto indices, int i, int j) {
    if (order == nvcuda::wmma::mem_row_major) {
      if (i == 0) f(indices, j);
    } else {
      if (j == 0) f(indices, i);
    }
  });
}
/// An operand of type col_major takes the vector as its first column, of type row_major as its first row.
template <operand_fragment Fragment, class Function>
__device__ __forceinline__ void foreach_v(Function&& f) {
  foreach_v<Fragment>(std::forward<Function>(f), detail::order_of<Fragment>);
}
/// Both, for the type of the fragments that f sets.
template <class Function, any_fragment Fragment, std::same_as<Fragment>... More>
__device__ __forceinline__ void foreach_v(Function&& f, memory_order order, const Fragment&, const More&...) {
  foreach_v<Fragment>(std::forward<Function>(f), order);
}
template <class Function, operand_fragment Fragment, std::same_as<Fragment>... More>
__device__ __forceinline__ void foreach_v(Function&& f, const Fragment&, const More&...) {
  foreach_v<Fragment>(std::forward<Function>(f));
}

}  // namespace wmma_ext

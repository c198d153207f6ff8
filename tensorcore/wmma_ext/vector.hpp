// Vectors in and out of fragments. Source: Ootomo and Yokota (2023) and the library it describes.
#pragma once

#include "fill.hpp"
#include "foreach.hpp"

namespace wmma_ext {

/// A matrix of zeros but for the vector v in its first column (order mem_col_major: `rows` elements) or its first row
/// (mem_row_major: `cols`). v may lie in any memory; lanes that hold none of it read nothing.
template <any_fragment Fragment>
__device__ __forceinline__ void load_vector(Fragment& fragment, const value_t<Fragment>* v, memory_order order) {
  fill_zero(fragment);
  foreach_v<Fragment>([&](auto indices, int i) { detail::set(fragment, static_cast<int>(indices[0]), v[i]); }, order);
}
/// An operand of type col_major takes it as a column, of type row_major as a row.
template <operand_fragment Fragment>
__device__ __forceinline__ void load_vector(Fragment& fragment, const value_t<Fragment>* v) {
  load_vector(fragment, v, detail::order_of<Fragment>);
}

/// Writes the first column (order mem_col_major) or the first row (mem_row_major) to v.
template <any_fragment Fragment>
__device__ __forceinline__ void store_vector(value_t<Fragment>* v, const Fragment& fragment, memory_order order) {
  foreach_v<Fragment>([&](auto indices, int i) { v[i] = fragment.x[indices[0]]; }, order);
}
template <operand_fragment Fragment>
__device__ __forceinline__ void store_vector(value_t<Fragment>* v, const Fragment& fragment) {
  store_vector(v, fragment, detail::order_of<Fragment>);
}

}  // namespace wmma_ext

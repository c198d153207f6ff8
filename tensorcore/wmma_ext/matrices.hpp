// Matrices of which every element follows from its place, or from two vectors. Source: Ootomo and Yokota (2023) and the
// library it describes.
#pragma once

#include "arithmetic.hpp"
#include "foreach.hpp"

namespace wmma_ext {

/// Ones on the main diagonal, else zeros. The matrix needn't be square.
template <any_fragment Fragment>
__device__ __forceinline__ void make_identity(Fragment& fragment) {
  const value_t<Fragment> one(1.0f), zero(0.0f);
  foreach_ij<Fragment>(
      [&](auto indices, int i, int j) { detail::set(fragment, static_cast<int>(indices[0]), i == j ? one : zero); });
}

/// Adds alpha to the elements of the main diagonal.
template <any_fragment Fragment>
__device__ __forceinline__ void add_eye(Fragment& fragment, value_t<Fragment> alpha) {
  foreach_ij<Fragment>([&](auto indices, int i, int j) {
    const int e = static_cast<int>(indices[0]);
    if (i == j) detail::set(fragment, e, detail::plus(fragment.x[e], alpha));
  });
}

/// u v^T, each product rounded once: u has `rows` elements, v has `cols`, in any memory. tf32: products are floats, to
/// be rounded to tf32 by who needs that.
template <any_fragment Fragment>
__device__ __forceinline__ void direct_product(Fragment& fragment, const value_t<Fragment>* u,
                                               const value_t<Fragment>* v) {
  foreach_ij<Fragment>([&](auto indices, int i, int j) {
    detail::set(fragment, static_cast<int>(indices[0]), detail::times(u[i], v[j]));
  });
}

}  // namespace wmma_ext

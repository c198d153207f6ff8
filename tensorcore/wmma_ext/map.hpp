// One element: who holds (i, j)? Source: Ootomo and Yokota (2023), section 4.3. None of these functions needs the
// warp's lanes together.
#pragma once

#include "fragment.hpp"

namespace wmma_ext {

/// Who holds an element, and where in x[].
template <int copies>
struct location {
  int lane;
  element_indices<copies> indices;
};

/// Where (i, j) is, 0 <= i < rows, 0 <= j < cols. With an index that is known only at run time, x[] must lie in (local)
/// memory: set_element() is better.
template <any_fragment Fragment>
__host__ __device__ constexpr auto map(int i, int j) {
  using traits = fragment_traits<Fragment>;
  return location<traits::copies>{traits::lane(i, j), traits::indices(traits::element(i, j))};
}
/// The same for constants: it costs nothing at run time.
template <any_fragment Fragment, int i, int j>
__host__ __device__ constexpr auto map() {
  static_assert(i >= 0 && i < fragment_traits<Fragment>::rows && j >= 0 && j < fragment_traits<Fragment>::cols,
                "no such element");
  constexpr auto found = map<Fragment>(i, j);
  return found;
}

/// Sets element (i, j): a comparison of lanes, and one of the indices in x[] for each element held.
template <any_fragment Fragment>
__device__ __forceinline__ void set_element(Fragment& fragment, int i, int j, value_t<Fragment> value) {
  using traits = fragment_traits<Fragment>;
  const bool mine = lane_id() == traits::lane(i, j);
  const int element = traits::element(i, j);
#pragma unroll
  for (int e = 0; e < traits::held; ++e) {  // every index a constant, so that x[] may stay in registers
    if (mine && e == element) detail::set(fragment, e, value);
  }
}
/// The same for constants: one comparison of lanes.
template <int i, int j, any_fragment Fragment>
__device__ __forceinline__ void set_element(Fragment& fragment, value_t<Fragment> value) {
  constexpr auto at = map<Fragment, i, j>();
  if (lane_id() == at.lane) detail::set(fragment, static_cast<int>(at.indices[0]), value);
}

}  // namespace wmma_ext

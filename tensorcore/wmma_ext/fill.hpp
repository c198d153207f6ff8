// All elements alike.
#pragma once

#include "fragment.hpp"

namespace wmma_ext {

/// Every element is `value`.
template <any_fragment Fragment>
__device__ __forceinline__ void fill(Fragment& fragment, value_t<Fragment> value) {
#pragma unroll
  for (int e = 0; e < fragment_traits<Fragment>::held; ++e) detail::set(fragment, e, value);
}
template <any_fragment Fragment>
__device__ __forceinline__ void fill_zero(Fragment& fragment) {
  fill(fragment, value_t<Fragment>(0.0f));
}

}  // namespace wmma_ext

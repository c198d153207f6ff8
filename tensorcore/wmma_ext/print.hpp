// Shows a fragment as the matrix that it is.
#pragma once

#include <stdio.h>

#include "fragment.hpp"

namespace wmma_ext {

/// Prints the matrix, a line for each row; each element by the lane that holds it. By all lanes of one warp together:
/// of several warps, the output would mix. Slow: for debugging.
template <any_fragment Fragment>
__device__ void print_fragment(const Fragment& fragment, const char* name = "fragment") {
  using traits = fragment_traits<Fragment>;
  if (lane_id() == 0) printf("%s, %d x %d:\n", name, traits::rows, traits::cols);
  __syncwarp();
#pragma unroll 1
  for (int i = 0; i < traits::rows; ++i) {
#pragma unroll 1
    for (int j = 0; j < traits::cols; ++j) {
      if (traits::lane(i, j) == lane_id()) {
        const int element = traits::element(i, j);
        value_t<Fragment> value = fragment.x[0];
#pragma unroll
        for (int e = 1; e < traits::held; ++e) {  // every index a constant, as in set_element()
          if (e == element) value = fragment.x[e];
        }
        double number;
        if constexpr (sizeof value == 2) {
          number = static_cast<float>(value);
        } else {
          number = value;
        }
        printf(j + 1 < traits::cols ? "%9.4g " : "%9.4g\n", number);
      }
      __syncwarp();
    }
  }
}

}  // namespace wmma_ext

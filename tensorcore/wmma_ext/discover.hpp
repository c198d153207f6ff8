// What the hardware itself says of the layouts: a fragment that a load has made, element by element. self_test() and
// tensorcore/04_fragment_map.cu use it.
#pragma once

#include "fragment.hpp"

namespace wmma_ext {

/// load_matrix_sync of a matrix without padding: an operand's lies as its type says, an accumulator's in rows. By all
/// lanes of a warp together; p is aligned to 32 bytes.
template <any_fragment Fragment>
__device__ __forceinline__ void load_unpadded(Fragment& fragment, const value_t<Fragment>* p) {
  using traits = fragment_traits<Fragment>;
  constexpr unsigned ldm = traits::is_accumulator || traits::by_rows ? traits::cols : traits::rows;
  if constexpr (traits::is_accumulator) {
    load_matrix_sync(fragment, p, ldm, nvcuda::wmma::mem_row_major);
  } else {
    load_matrix_sync(fragment, p, ldm);
  }
}

/// Writes x[] of the calling lane to its row of `to`, as floats: whole numbers to 2048 stay what they are (bf16: to
/// 256).
template <any_fragment Fragment>
__device__ void dump(float (&to)[32][16], const Fragment& fragment) {
#pragma unroll
  for (int e = 0; e < fragment_traits<Fragment>::elements; ++e) {
    to[lane_id()][e] = static_cast<float>(fragment.x[e]);
  }
}

}  // namespace wmma_ext

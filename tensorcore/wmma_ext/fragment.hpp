// What the rest of the library asks of a fragment: nvcuda::wmma's, or wmma_ext::mma's.
#pragma once

#include "layout.hpp"

namespace wmma_ext {

/// The calling thread's place in its warp, as the hardware numbers it.
__device__ __forceinline__ int lane_id() {
#ifdef __CUDACC__
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return static_cast<int>(lane);
#else
  return static_cast<int>(simt::lane_id());
#endif
}

/// The indices in x[] of one element of the matrix: nvcuda::wmma holds a __half operand twice or four times.
template <int count>
struct element_indices {
  unsigned index[count];

  __host__ __device__ static constexpr int size() { return count; }
  __host__ __device__ constexpr unsigned operator[](int i) const { return index[i]; }
  __host__ __device__ constexpr const unsigned* begin() const { return index; }
  __host__ __device__ constexpr const unsigned* end() const { return index + count; }
};

namespace detail {

/// `most`: elements of x[], if these are more than the lane holds of the matrix.
template <class Use, int shape_m, int shape_n, int shape_k, class T, class MemoryLayout, int most = 0>
struct traits {
  using use = Use;
  using element_type = T;
  using value_type = storage_t<T>;  ///< of x[]
  using memory_layout = MemoryLayout;
  static constexpr int m = shape_m, n = shape_n, k = shape_k;
  static constexpr bool is_accumulator = std::is_same_v<Use, accumulator>;
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? k : m;
  static constexpr int cols = std::is_same_v<Use, matrix_a> ? k : n;
  __host__ __device__ static constexpr layout map() { return layout_of<Use, m, n, k, T>(); }
  static constexpr int held = 1 << map().bits;  ///< elements of the matrix that a lane holds
  static constexpr int copies = most > held ? most / held : 1;
  static constexpr int elements = held * copies;  ///< of x[]
  static constexpr bool by_rows = std::is_same_v<MemoryLayout, row_major>;
  static_assert(held * 32 == rows * cols, "no such fragment");

  __host__ __device__ static constexpr position place(int lane, int i) {
    constexpr layout l = map();
    return l.place(lane, i % held);
  }
  /// Who holds (row, col), and as which of its elements.
  __host__ __device__ static constexpr int lane(int row, int col) {
    constexpr layout l = map();
    return l.lane(row, col);
  }
  __host__ __device__ static constexpr int element(int row, int col) {
    constexpr layout l = map();
    return l.element(row, col);
  }
  __host__ __device__ static constexpr element_indices<copies> indices(int i) {
    element_indices<copies> list{};
    for (int c = 0; c < copies; ++c) list.index[c] = static_cast<unsigned>(i + c * held);
    return list;
  }
};

}  // namespace detail

/// Shape (rows, cols), elements and layout of a type of fragments; see detail::traits.
template <class Fragment>
struct fragment_traits;
template <class Use, int m, int n, int k, class T, class Layout>
struct fragment_traits<nvcuda::wmma::fragment<Use, m, n, k, T, Layout>>
    : detail::traits<Use, m, n, k, T, Layout, std::is_same_v<T, __half> && !std::is_same_v<Use, accumulator> ? 16 : 0> {
};

template <class Fragment>
concept any_fragment = requires {
  typename fragment_traits<Fragment>::use;
};
template <class Fragment>
concept operand_fragment = any_fragment<Fragment> && !fragment_traits<Fragment>::is_accumulator;
template <class Fragment>
concept accumulator_fragment = any_fragment<Fragment> && fragment_traits<Fragment>::is_accumulator;

/// What x[] of a fragment is made of.
template <any_fragment Fragment>
using value_t = typename fragment_traits<Fragment>::value_type;

/// How a matrix lies in memory: nvcuda::wmma::mem_row_major or mem_col_major.
using memory_order = nvcuda::wmma::layout_t;

namespace detail {

/// The order that an operand's type names.
template <operand_fragment Fragment>
inline constexpr memory_order order_of =
    fragment_traits<Fragment>::by_rows ? nvcuda::wmma::mem_row_major : nvcuda::wmma::mem_col_major;

/// Sets an element of the matrix, and its copies.
template <any_fragment Fragment>
__device__ __forceinline__ void set(Fragment& fragment, int i, value_t<Fragment> value) {
  using traits = fragment_traits<Fragment>;
  static_assert(sizeof fragment.x == traits::elements * sizeof value);
#pragma unroll
  for (int c = 0; c < traits::copies; ++c) fragment.x[i + c * traits::held] = value;
}

}  // namespace detail
}  // namespace wmma_ext

// Fragments of FP32 matrices for Tensor Cores. A lane's elements are x[0 .. num_elements), as in nvcuda::wmma: floats,
// to be read and assigned. (They are kept as the parts that are multiplied; x[i] is put together when it is read.)
#pragma once

#include "../foreach.hpp"
#include "split.hpp"

namespace wmma_ext::tcec {
namespace detail {

/// A float that is kept as something else: elements.get(i), elements.set(i, v).
template <class Elements>
struct reference {
  Elements& elements;
  int i;

  __device__ __forceinline__ operator float() const { return elements.get(i); }
  __device__ __forceinline__ reference& operator=(float v) {
    elements.set(i, v);
    return *this;
  }
  __device__ __forceinline__ reference& operator=(const reference& other) { return *this = static_cast<float>(other); }
  __device__ __forceinline__ reference& operator+=(float v) { return *this = *this + v; }
  __device__ __forceinline__ reference& operator-=(float v) { return *this = *this - v; }
  __device__ __forceinline__ reference& operator*=(float v) { return *this = *this * v; }
  __device__ __forceinline__ reference& operator/=(float v) { return *this = *this / v; }
};

/// down x across fragments of Part, `parts` of each.
template <class T, class Policy, class Part, int down, int across>
struct operand_elements {
  static constexpr int parts = numbers<T, Policy>::parts, held = fragment_traits<Part>::held;
  Part part[parts][down][across];

  __device__ __forceinline__ void set(int i, float v) {
    typename numbers<T, Policy>::type values[parts];
    split<T, Policy>(v, values);
#pragma unroll
    for (int p = 0; p < parts; ++p)
      wmma_ext::detail::set(part[p][i / held / across][i / held % across], i % held, values[p]);
  }
  __device__ __forceinline__ float get(int i) const {
    typename numbers<T, Policy>::type values[parts];
#pragma unroll
    for (int p = 0; p < parts; ++p) values[p] = part[p][i / held / across][i / held % across].x[i % held];
    return sum<T, Policy>(values);
  }
  __device__ __forceinline__ reference<operand_elements> operator[](int i) {
    return {*this, i};
  }
  __device__ __forceinline__ float operator[](int i) const {
    return get(i);
  }
};

/// main + correction 2^-shift: products of parts 0, and of all others.
template <class T, class Policy, class Part, int down, int across>
struct accumulator_elements {
  static constexpr int held = fragment_traits<Part>::held;
  static constexpr bool corrected = numbers<T, Policy>::parts > 1;
  Part main[down][across];
  Part correction[corrected ? down : 1][corrected ? across : 1];  // nobody touches it unless `corrected`

  __device__ __forceinline__ void set(int i, float v) {
    main[i / held / across][i / held % across].x[i % held] = v;
    if constexpr (corrected) correction[i / held / across][i / held % across].x[i % held] = 0.0f;
  }
  __device__ __forceinline__ float get(int i) const {
    const float v = main[i / held / across][i / held % across].x[i % held];
    if constexpr (corrected)
      return v + correction[i / held / across][i / held % across].x[i % held] * numbers<T, Policy>::down;
    else
      return v;
  }
  __device__ __forceinline__ reference<accumulator_elements> operator[](int i) { return {*this, i}; }
  __device__ __forceinline__ float operator[](int i) const { return get(i); }
};

}  // namespace detail

/// A lane's part of an FP32 matrix: m x k (matrix_a), k x n (matrix_b) or m x n (accumulator), multiples of the
/// policy's shape. T: what Tensor Cores multiply, __half, precision::tf32 or __nv_bfloat16, or float for plain cores (to
/// which the policy's op::simt brings any T); of an accumulator, too, unlike nvcuda::wmma's. Layout: row_major or
/// col_major, how load_matrix_sync finds an operand in memory; void for accumulators.
template <class Use, int m, int n, int k, class T, class Layout = void, class Policy = default_policy<T>>
class fragment {
  using part = typename detail::part<Use, T, Layout, Policy>::type;
  static constexpr bool is_accumulator = std::is_same_v<Use, accumulator>;

 public:
  static_assert(m % Policy::m == 0 && n % Policy::n == 0 && k % Policy::k == 0, "not a multiple of the policy's shape");
  static_assert(is_accumulator == std::is_void_v<Layout>, "operands name their order in memory, accumulators do not");
  using element_type = T;
  using part_type = part;
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? k : m, cols = std::is_same_v<Use, matrix_a> ? k : n;
  static constexpr int part_rows = fragment_traits<part>::rows, part_cols = fragment_traits<part>::cols;
  static constexpr int down = rows / part_rows, across = cols / part_cols;  ///< in parts
  enum { num_elements = rows * cols / 32 };

  std::conditional_t<is_accumulator, detail::accumulator_elements<T, Policy, part, down, across>,
                     detail::operand_elements<T, Policy, part, down, across>>
      x;
};

template <class>
inline constexpr bool is_fragment = false;
template <class Use, int m, int n, int k, class T, class Layout, class Policy>
inline constexpr bool is_fragment<fragment<Use, m, n, k, T, Layout, Policy>> = true;
template <class F>
concept any_fragment = is_fragment<F>;

/// Calls f(e, i, j) for each element that the calling lane holds: x[e] is element (i, j) of the matrix. Without the
/// warp's lanes together.
template <any_fragment F, class Function>
__device__ __forceinline__ void foreach_ij(Function&& f) {
  using traits = fragment_traits<typename F::part_type>;
  const int lane = lane_id();
#pragma unroll
  for (int e = 0; e < traits::held; ++e) {
    const position p = traits::place(lane, e);
#pragma unroll
    for (int tile = 0; tile < F::down * F::across; ++tile)
      f(tile * traits::held + e, tile / F::across * F::part_rows + p.row, tile % F::across * F::part_cols + p.col);
  }
}

/// Every element is `value`.
template <any_fragment F>
__device__ __forceinline__ void fill_fragment(F& fragment, float value) {
#pragma unroll
  for (int i = 0; i < F::num_elements; ++i) fragment.x.set(i, value);
}

}  // namespace wmma_ext::tcec

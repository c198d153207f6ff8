// Stands in for CUDA's header of the same name in a `cpu` build: nvcuda::wmma, with the element types and counts that
// nvcc's has. common/simt/language/fragment_places.hpp tells which elements a lane holds.
//
//   16x16x16, 32x8x16, 8x32x16  A and B __half, C and D float or __half; A and B __nv_bfloat16, C and D float
//   16x16x8                     A and B precision::tf32, C and D float
//   8x8x4                       double
//
// Loads and stores are those that nvcc 13 makes for sm_90 on memory of which it knows no more than the pointer:
// 16-bit elements always in pairs of 32 bits (where the pair doesn't adjoin in memory, the lanes exchange halves
// afterwards), accumulators in pairs where these adjoin, all else one by one. On __half in shared memory nvcc uses
// ldmatrix where it can tell: the same wavefronts in fewer requests. Not here: integer and sub-byte types.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <type_traits>

#include "common/simt/language/fragment_memory.hpp"
#include "common/simt/language/fragment_places.hpp"
#include "common/simt/language/tensor.hpp"

namespace nvcuda::wmma {

struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

/// What x[] is made of: T, but float for tf32.
template <class T>
using storage_t = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;

/// A lane's part of a matrix. nvcc holds each element of a __half operand twice or four times: x[] repeats itself.
template <class T, int size>
struct __align__(8) __frag_base {
  enum { num_elements = size, num_storage_elements = size };
  using element_type = T;
  using storage_element_type = storage_t<T>;
  storage_element_type x[size];
};

template <class Use, int m, int n, int k, class T>
inline constexpr bool is_supported =
    k == 16 ? ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32)) &&
                  (std::is_same_v<T, __half> ||
                   std::is_same_v<T, std::conditional_t<std::is_same_v<Use, accumulator>, float, __nv_bfloat16>>)
    : k == 8 ? m == 16 && n == 16 &&
                   std::is_same_v<T, std::conditional_t<std::is_same_v<Use, accumulator>, float, precision::tf32>>
             : m == 8 && n == 8 && k == 4 && std::is_same_v<T, double>;

template <class Use, int m, int n, int k, class T>
inline constexpr int element_count =
    std::is_same_v<T, __half> && !std::is_same_v<Use, accumulator> ? 16 : simt::FragmentPlaces<Use, m, n, k, T>::held;

template <class Use, int m, int n, int k, class T, class Layout = void>
requires is_supported<Use, m, n, k, T>
class fragment : public __frag_base<T, element_count<Use, m, n, k, T>> {
};

/// value rounded to tf32: to nearest, ties away from zero.
__forceinline__ float __float_to_tf32(float value) {
  return simt::round_to_tf32(value);
}

template <class T, int size>
__forceinline__ void fill_fragment(__frag_base<T, size>& fragment, const std::type_identity_t<storage_t<T>>& value) {
  for (int i = 0; i < size; ++i) fragment.x[i] = value;
}

/// Loads A or B. By all lanes of the warp, with equal arguments: p must be aligned to 32 bytes, and ldm, the number of
/// elements from one row (column) to the next, make up a multiple of 16 bytes.
template <class Use, int m, int n, int k, class T, class Layout>
__forceinline__ void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& a, const std::type_identity_t<storage_t<T>>* p,
                                      unsigned ldm) {
  static_assert(!std::is_same_v<Use, accumulator>, "an accumulator takes its layout as an argument");
  using Places = simt::FragmentPlaces<Use, m, n, k, T>;
  simt::load_fragment<Places>(a.x, p, ldm, std::is_same_v<Layout, row_major>);
  for (int i = Places::held; i < a.num_elements; ++i) a.x[i] = a.x[i - Places::held];
}

/// Loads C.
template <int m, int n, int k, class T>
__forceinline__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& c, const std::type_identity_t<T>* p,
                                      unsigned ldm, layout_t layout) {
  simt::load_fragment<simt::FragmentPlaces<accumulator, m, n, k, T>>(c.x, p, ldm, layout == mem_row_major);
}

/// Stores D.
template <int m, int n, int k, class T>
__forceinline__ void store_matrix_sync(std::type_identity_t<T>* p, const fragment<accumulator, m, n, k, T>& d,
                                       unsigned ldm, layout_t layout) {
  simt::store_fragment<simt::FragmentPlaces<accumulator, m, n, k, T>>(p, d.x, ldm, layout == mem_row_major);
}

/// D = A B + C by all lanes of the warp. How it rounds: simt::mma in common/simt/language/tensor.hpp.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class R>
__forceinline__ void mma_sync(fragment<accumulator, m, n, k, R>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                              const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                              const fragment<accumulator, m, n, k, R>& c) {
  using simt::Mma;
  constexpr Mma instruction = k == 4                      ? Mma::m8n8k4_f64
                              : k == 8                    ? Mma::m16n8k8_f32_tf32
                              : std::is_same_v<R, __half> ? Mma::m16n8k16_f16_f16
                              : std::is_same_v<T, __half> ? Mma::m16n8k16_f32_f16
                                                          : Mma::m16n8k16_f32_bf16;
  const auto run = [](auto... products) {
    const simt::MmaRegisters registers[] = {products...};
    simt::mma(instruction, "mma_sync", registers, sizeof...(products));
  };
  using Product = simt::MmaRegisters;
  if constexpr (m == 8 && n == 8) {
    run(Product{a.x, b.x, c.x, d.x});
  } else if constexpr (n == 16) {
    run(Product{a.x, b.x, c.x, d.x}, Product{a.x, b.x + k / 4, c.x + 4, d.x + 4});
  } else if constexpr (m == 32) {
    run(Product{a.x, b.x, c.x, d.x}, Product{a.x + 8, b.x, c.x + 4, d.x + 4});
  } else {
    run(Product{b.x, a.x, c.x, d.x}, Product{b.x + 8, a.x, c.x + 4, d.x + 4});
  }
}

/// The same where C and D differ, one float and one __half. (A __half result is rounded twice here.)
template <int m, int n, int k, class LayoutA, class LayoutB, class R, class S>
requires(!std::is_same_v<R, S>) __forceinline__
    void mma_sync(fragment<accumulator, m, n, k, R>& d, const fragment<matrix_a, m, n, k, __half, LayoutA>& a,
                  const fragment<matrix_b, m, n, k, __half, LayoutB>& b, const fragment<accumulator, m, n, k, S>& c) {
  fragment<accumulator, m, n, k, float> sum;
  for (int i = 0; i < c.num_elements; ++i) sum.x[i] = c.x[i];
  mma_sync(sum, a, b, sum);
  for (int i = 0; i < c.num_elements; ++i) d.x[i] = sum.x[i];
}

}  // namespace nvcuda::wmma

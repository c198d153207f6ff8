// Fragments of complex matrices, and their product by four real ones. In memory a complex number is a float2: real part,
// imaginary part (as cuComplex, std::complex<float> and BLAS have it).
#pragma once

#include "memory.hpp"
#include "product.hpp"

namespace wmma_ext::tcec {

/// Two fragments: real and imaginary parts. The template's arguments: as for fragment.
template <class Use, int m, int n, int k, class T, class Layout = void, class Policy = default_policy<T>>
struct complex_fragment {
  fragment<Use, m, n, k, T, Layout, Policy> re, im;
};

namespace detail {

template <class Complex>
__device__ __forceinline__ void load_complex(Complex& c, const float2* p, unsigned ldm, bool by_rows) {
  using F = decltype(c.re);
  foreach_ij<F>([&](int e, int i, int j) {
    const float2 v = p[by_rows ? std::size_t{ldm} * i + j : std::size_t{ldm} * j + i];
    c.re.x.set(e, v.x);
    c.im.x.set(e, v.y);
  });
}

}  // namespace detail

/// Loads A or B; ldm in complex numbers.
template <class Use, int m, int n, int k, class T, class Layout, class Policy>
requires(!std::is_void_v<Layout>) __device__ __forceinline__
    void load_matrix_sync(complex_fragment<Use, m, n, k, T, Layout, Policy>& a, const float2* p, unsigned ldm) {
  detail::load_complex(a, p, ldm, std::is_same_v<Layout, row_major>);
}
/// Loads C.
template <int m, int n, int k, class T, class Policy>
__device__ __forceinline__ void load_matrix_sync(complex_fragment<accumulator, m, n, k, T, void, Policy>& c,
                                                 const float2* p, unsigned ldm, memory_order order) {
  detail::load_complex(c, p, ldm, order == nvcuda::wmma::mem_row_major);
}
/// Stores D.
template <int m, int n, int k, class T, class Policy>
__device__ __forceinline__ void store_matrix_sync(float2* p,
                                                  const complex_fragment<accumulator, m, n, k, T, void, Policy>& d,
                                                  unsigned ldm, memory_order order) {
  const bool by_rows = order == nvcuda::wmma::mem_row_major;
  foreach_ij<decltype(d.re)>([&](int e, int i, int j) {
    p[by_rows ? std::size_t{ldm} * i + j : std::size_t{ldm} * j + i] = make_float2(d.re.x[e], d.im.x[e]);
  });
}

/// Every element is `value`.
template <class Use, int m, int n, int k, class T, class Layout, class Policy>
__device__ __forceinline__ void fill_fragment(complex_fragment<Use, m, n, k, T, Layout, Policy>& c, float2 value) {
  fill_fragment(c.re, value.x);
  fill_fragment(c.im, value.y);
}

/// D = A B + C: four products, each as mma_sync's of real matrices.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class Policy>
__device__ __forceinline__ void mma_sync(complex_fragment<accumulator, m, n, k, T, void, Policy>& d,
                                         const complex_fragment<matrix_a, m, n, k, T, LayoutA, Policy>& a,
                                         const complex_fragment<matrix_b, m, n, k, T, LayoutB, Policy>& b,
                                         const complex_fragment<accumulator, m, n, k, T, void, Policy>& c) {
  fragment<matrix_a, m, n, k, T, LayoutA, Policy> minus_im;
  using elements = decltype(minus_im.x);
#pragma unroll
  for (int p = 0; p < elements::parts; ++p) {
#pragma unroll
    for (int tile = 0; tile < minus_im.down * minus_im.across; ++tile) {
      const auto& from = a.im.x.part[p][tile / minus_im.across][tile % minus_im.across];
#pragma unroll
      for (int e = 0; e < elements::held; ++e)
        wmma_ext::detail::set(minus_im.x.part[p][tile / minus_im.across][tile % minus_im.across], e, -from.x[e]);
    }
  }
  mma_sync(d.re, a.re, b.re, c.re);
  mma_sync(d.re, minus_im, b.im, d.re);
  mma_sync(d.im, a.re, b.im, c.im);
  mma_sync(d.im, a.im, b.re, d.im);
}

}  // namespace wmma_ext::tcec

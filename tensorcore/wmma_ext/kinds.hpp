// The kinds of fragments that the library knows, as lists of types.
#pragma once

#include <string>

#include "mma.hpp"

namespace wmma_ext::kinds {

template <class... Types>
struct list {
  static constexpr int size = sizeof...(Types);
};
template <class... First, class... Second>
list<First..., Second...> operator+(list<First...>, list<Second...>);
template <class... Lists>
using joined = decltype((Lists{} + ...));

template <int m, int n, int k, class T>
using wmma_operands = list<
    nvcuda::wmma::fragment<matrix_a, m, n, k, T, row_major>, nvcuda::wmma::fragment<matrix_a, m, n, k, T, col_major>,
    nvcuda::wmma::fragment<matrix_b, m, n, k, T, row_major>, nvcuda::wmma::fragment<matrix_b, m, n, k, T, col_major>>;
template <int m, int n, int k, class T>
using mma_operands =
    list<mma::fragment<matrix_a, m, n, k, T, row_major>, mma::fragment<matrix_a, m, n, k, T, col_major>,
         mma::fragment<matrix_b, m, n, k, T, row_major>, mma::fragment<matrix_b, m, n, k, T, col_major>>;
template <int m, int n, int k, class... T>
using wmma_accumulators = list<nvcuda::wmma::fragment<accumulator, m, n, k, T>...>;
template <int m, int n, int k, class... T>
using mma_accumulators = list<mma::fragment<accumulator, m, n, k, T>...>;

/// nvcuda::wmma's that every device has (sm_75).
using wmma_sm_75 = joined<wmma_operands<16, 16, 16, __half>, wmma_operands<32, 8, 16, __half>,
                          wmma_operands<8, 32, 16, __half>, wmma_accumulators<16, 16, 16, float, __half>,
                          wmma_accumulators<32, 8, 16, float, __half>, wmma_accumulators<8, 32, 16, float, __half>>;
/// And those that need sm_80: for a kernel that is compiled for sm_75 these types are not there.
using wmma_sm_80 =
    joined<wmma_operands<16, 16, 16, __nv_bfloat16>, wmma_operands<32, 8, 16, __nv_bfloat16>,
           wmma_operands<8, 32, 16, __nv_bfloat16>, wmma_operands<16, 16, 8, precision::tf32>,
           wmma_accumulators<16, 16, 8, float>, wmma_operands<8, 8, 4, double>, wmma_accumulators<8, 8, 4, double>>;
using mma_sm_75 = joined<mma_operands<16, 8, 8, __half>, mma_accumulators<16, 8, 8, float, __half>>;
using mma_sm_80 = joined<mma_operands<16, 8, 16, __half>, mma_operands<16, 8, 16, __nv_bfloat16>,
                         mma_operands<16, 8, 8, precision::tf32>, mma_operands<8, 8, 4, double>,
                         mma_accumulators<16, 8, 16, float, __half>, mma_accumulators<8, 8, 4, double>>;

template <any_fragment Fragment>
constexpr const char* use_name() {
  using use = typename fragment_traits<Fragment>::use;
  return std::is_same_v<use, matrix_a> ? "matrix_a" : std::is_same_v<use, matrix_b> ? "matrix_b" : "accumulator";
}
template <any_fragment Fragment>
constexpr const char* type_name() {
  using T = typename fragment_traits<Fragment>::element_type;
  return std::is_same_v<T, __half>            ? "f16"
         : std::is_same_v<T, __nv_bfloat16>   ? "bf16"
         : std::is_same_v<T, precision::tf32> ? "tf32"
         : std::is_same_v<T, float>           ? "f32"
                                              : "f64";
}
template <any_fragment Fragment>
inline constexpr bool is_wmma = false;
template <class Use, int m, int n, int k, class T, class Layout>
inline constexpr bool is_wmma<nvcuda::wmma::fragment<Use, m, n, k, T, Layout>> = true;

/// Has sm_75 it? Else it takes sm_80.
template <any_fragment Fragment>
inline constexpr bool runs_on_sm_75 = [] {
  using traits = fragment_traits<Fragment>;
  using T = typename traits::element_type;
  if (is_wmma<Fragment>) return traits::k == 16 && !std::is_same_v<T, __nv_bfloat16>;
  return traits::k == 8 && !std::is_same_v<T, precision::tf32>;
}();

namespace detail {

inline std::string description(const char* family, const char* use, int m, int n, int k, const char* type,
                               const char* order) {
  std::string text = family;
  text.append(use).append(" ").append(std::to_string(m)).append("x").append(std::to_string(n));
  return text.append("x").append(std::to_string(k)).append(" ").append(type).append(order);
}

}  // namespace detail

/// "wmma matrix_a 16x16x16 f16 row_major". On the host.
template <any_fragment F>
std::string description() {
  using traits = fragment_traits<F>;
  return detail::description(is_wmma<F> ? "wmma " : "mma.sync ", use_name<F>(), traits::m, traits::n, traits::k,
                             type_name<F>(),
                             traits::is_accumulator ? ""
                             : traits::by_rows      ? " row_major"
                                                    : " col_major");
}

}  // namespace wmma_ext::kinds

// How an FP32 product is made of products that Tensor Cores can do: the choices, as types.
#pragma once

#include "../mma.hpp"

namespace wmma_ext::tcec {

using nvcuda::wmma::mem_col_major;
using nvcuda::wmma::mem_row_major;
using wmma_ext::accumulator;
using wmma_ext::col_major;
using wmma_ext::matrix_a;
using wmma_ext::matrix_b;
using wmma_ext::row_major;
namespace precision = nvcuda::wmma::precision;

/// What multiplies: single mma.sync instructions, nvcuda::wmma, or plain FP32 cores, to which shuffles bring what other
/// lanes hold (a software systolic array). Plain cores take FP32 numbers, whatever T is: nothing is split.
namespace op {
struct mma;
struct wmma;
struct simt;
}  // namespace op

struct with_correction;     ///< operands are sums of two numbers of type T, or three bfloat16's
struct without_correction;  ///< operands are rounded to T

/// fm x fn x fk: the shape of one product of Op.
template <class Op, class ErrorCorrection, int fm, int fn, int fk>
struct Policy {
  using operation = Op;
  using error_correction = ErrorCorrection;
  static constexpr int m = fm, n = fn, k = fk;
  static constexpr bool on_plain_cores = std::is_same_v<Op, op::simt>;  // which leave nothing to correct
  static constexpr bool corrects = std::is_same_v<ErrorCorrection, with_correction> && !on_plain_cores;
};

namespace detail {

template <class T>
inline constexpr bool is_operand_type = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> ||
                                        std::is_same_v<T, precision::tf32> || std::is_same_v<T, float>;

template <class T, class ErrorCorrection, class Op>
struct default_policy {
  static_assert(is_operand_type<T>, "T: __half, precision::tf32, __nv_bfloat16, or float for plain cores");
  static constexpr int columns = std::is_same_v<Op, op::wmma> ? 16 : 8;
  static constexpr int steps = sizeof(storage_t<T>) == 2 && !std::is_same_v<Op, op::simt> ? 16 : 8;
  using type = Policy<Op, ErrorCorrection, 16, columns, steps>;
};

}  // namespace detail

/// The policy with one of the shapes that every T has. T = float: always plain cores. These need no correction, but take
/// either word: a kernel moves to them and back by Op alone.
template <class T, class ErrorCorrection = with_correction, class Op = op::mma>
using default_policy =
    typename detail::default_policy<T, ErrorCorrection,
                                    std::conditional_t<std::is_same_v<T, float>, op::simt, Op>>::type;

/// What a lane holds of an operand: T for Tensor Cores, FP32 numbers for plain cores.
template <class T, class Policy>
using operand_t = std::conditional_t<Policy::on_plain_cores, float, T>;

namespace detail {

/// An operand v is part 0 + (part 1 + part 2) * 2^-shift. Products of parts p and q with p + q >= parts are left out:
/// they are less than 2^-22 of the whole (of three bfloat16's: 2^-24).
template <class T, class Policy>
struct numbers {
  static_assert(!std::is_same_v<T, float> || Policy::on_plain_cores, "T = float goes with op::simt only");
  static_assert(!Policy::on_plain_cores || (Policy::m == 16 && Policy::n == 8 && Policy::k == 8), "simt: 16 x 8 x 8");
  using type = storage_t<operand_t<T, Policy>>;
  static constexpr int parts = !Policy::corrects ? 1 : std::is_same_v<T, __nv_bfloat16> ? 3 : 2;
  /// FP16 has no smaller numbers than 2^-24, and what is left of v lies 2^-11 below it.
  static constexpr int shift = std::is_same_v<operand_t<T, Policy>, __half> ? 11 : 0;
  static constexpr float up = static_cast<float>(1 << shift), down = 1.0f / up;
};

/// The fragments that a product of the policy takes.
template <class Use, class T, class Layout, class Policy>
struct part {
  // Plain cores: a float lies as a tf32 does.
  using element = std::conditional_t<Policy::on_plain_cores, precision::tf32, T>;
  using type = mma::fragment<Use, Policy::m, Policy::n, Policy::k,
                             std::conditional_t<std::is_same_v<Use, accumulator>, float, element>, Layout>;
};
template <class Use, class T, class Layout, class ErrorCorrection, int fm, int fn, int fk>
struct part<Use, T, Layout, Policy<op::wmma, ErrorCorrection, fm, fn, fk>> {
  using type =
      nvcuda::wmma::fragment<Use, fm, fn, fk, std::conditional_t<std::is_same_v<Use, accumulator>, float, T>, Layout>;
};

}  // namespace detail
}  // namespace wmma_ext::tcec

// The FMAs of a thread's tile, in an order in which each has an operand in common with the next: FP64 cores read three
// operands of 64 bits for each FMA, and registers give two in that time. What is kept from the FMA before is not read
// again.
#pragma once

#include <cuda_runtime.h>

#include "common/kernel/complex.cuh"

namespace gemm::generated {

/// sum[i][j] += x[i] * y[j], or conj(x[i]).
template <bool conjugate, int TM, int TN>
__device__ void multiply_tile(const double (&x)[TM], const double (&y)[TN], double (&sum)[TM][TN]) {
#pragma unroll
  for (int f = 0; f < TM * TN; ++f) {  // down one column, up the next
    const int j = f / TM, i = j % 2 ? TM - 1 - f % TM : f % TM;
    sum[i][j] += x[i] * y[j];
  }
}
template <bool conjugate, int TM, int TN>
__device__ void multiply_tile(const double2 (&x)[TM], const double2 (&y)[TN], double2 (&sum)[TM][TN]) {
#pragma unroll
  for (int j = 0; j < TN; ++j) {
#pragma unroll
    for (int i = 0; i < TM; ++i) sum[i][j].x += x[i].x * y[j].x;
#pragma unroll
    for (int i = TM - 1; i >= 0; --i) sum[i][j].y += (conjugate ? -x[i].y : x[i].y) * y[j].x;
#pragma unroll
    for (int i = 0; i < TM; ++i) sum[i][j].x -= (conjugate ? -x[i].y : x[i].y) * y[j].y;
#pragma unroll
    for (int i = TM - 1; i >= 0; --i) sum[i][j].y += x[i].x * y[j].y;
  }
}

__device__ inline void set(double& sum, double value) {
  sum = value;
}
__device__ inline void set(double2& sum, double value) {
  sum = make_double2(value, value);
}

/// A thread's tile of the result while it grows.
template <class T, int TM, int TN, bool conjugate, int products>
struct Tile {
  T sum[TM][TN] = {};

  /// Sums begin anew. What is added to -0 needs no addition; nvcc must not drop that of +0, since it makes +0 of -0.
  __device__ void begin(double zero) {
#pragma unroll
    for (int f = 0; f < TM * TN; ++f) set(sum[f / TN][f % TN], zero);
  }
  __device__ void add(const T (&x)[TM], const T (&y)[TN]) {
    multiply_tile<conjugate>(x, y, sum);
  }
  /// As where a complex product is three real ones, below, which needs more.
  template <bool later, class Sum, class Late>
  __device__ void add(const T (&x)[TM], const T (&y)[TN], Sum, Late) {
    add(x, y);
  }
  __device__ void get(T (&to)[TM][TN]) const {
#pragma unroll
    for (int f = 0; f < TM * TN; ++f) to[f / TN][f % TN] = sum[f / TN][f % TN];
  }
};
/// Sums of so many terms and more may be made of three products for a complex one. The error of one such product can be
/// 9.6 u |x| |y|, with u = 2^-53, where four products have less than 3; that of the whole sum is to stay below
/// 4 u sqrt(terms) times the sum of |x| |y| (docs/concepts/checking.md), even if one term is as good as all of it.
inline constexpr int least_terms_of_three_products = 16;

/// Of complex numbers with three products of real ones for each of theirs, after Gauss: (a + ib)(c + id) is
/// ac - bd + i ((a + b)(c + d) - ac - bd). Each of the three has its own sums, so only the factors take more additions,
/// one for each. An error is small beside the product's modulus, but not always beside its smaller part (Higham 1992).
template <int TM, int TN, bool conjugate>
struct Tile<double2, TM, TN, conjugate, 3> {
  double real[TM][TN] = {}, imaginary[TM][TN] = {}, both[TM][TN] = {};

  __device__ void begin(double zero) {
#pragma unroll
    for (int f = 0; f < TM * TN; ++f) real[f / TN][f % TN] = imaginary[f / TN][f % TN] = both[f / TN][f % TN] = zero;
  }
  __device__ void add(const double2 (&x)[TM], const double2 (&y)[TN]) {
    add(x, y, [&](int j) { return y[j].x + y[j].y; });
  }
  /// sum_of(j): y[j].x + y[j].y.
  template <class Sum>
  __device__ void add(const double2 (&x)[TM], const double2 (&y)[TN], Sum sum_of) {
    add<false>(x, y, sum_of, [] {});
  }
  /// late(): what is to be done behind most FMAs, when y is needed no more. later: that is where the parts of x[i] are
  /// added up, too, which saves registers.
  template <bool later, class Sum, class Late>
  __device__ void add(const double2 (&x)[TM], const double2 (&y)[TN], Sum sum_of, Late late) {
    double x_real[TM], x_imaginary[TM], x_both[TM], y_real[TN], y_imaginary[TN], y_both[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      x_real[i] = x[i].x;
      x_imaginary[i] = x[i].y;
    }
    const auto add_up = [&] {
#pragma unroll
      for (int i = 0; i < TM; ++i) x_both[i] = conjugate ? x[i].x - x[i].y : x[i].x + x[i].y;
    };
    if constexpr (!later) add_up();
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      y_real[j] = y[j].x;
      y_imaginary[j] = y[j].y;
      y_both[j] = sum_of(j);
    }
    multiply_tile<false>(x_real, y_real, real);
    multiply_tile<false>(x_imaginary, y_imaginary, imaginary);
    late();
    if constexpr (later) add_up();
    multiply_tile<false>(x_both, y_both, both);
  }
  __device__ void get(double2 (&to)[TM][TN]) const {
#pragma unroll
    for (int f = 0; f < TM * TN; ++f) {
      const int i = f / TN, j = f % TN;
      const double second = conjugate ? -imaginary[i][j] : imaginary[i][j];
      to[i][j] = make_double2(real[i][j] - second, both[i][j] - real[i][j] - second);
    }
  }
};

}  // namespace gemm::generated

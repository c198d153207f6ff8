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

/// A thread's tile of the result while it grows.
template <class T, int TM, int TN, bool conjugate, int products>
struct Tile {
  T sum[TM][TN] = {};

  __device__ void add(const T (&x)[TM], const T (&y)[TN]) { multiply_tile<conjugate>(x, y, sum); }
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

  __device__ static double sum_of_parts(double2 x) { return conjugate ? x.x - x.y : x.x + x.y; }
  __device__ void add_parts(const double2 (&x)[TM], const double2 (&y)[TN]) {
    double x_real[TM], x_imaginary[TM], y_real[TN], y_imaginary[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i) x_real[i] = x[i].x, x_imaginary[i] = x[i].y;
#pragma unroll
    for (int j = 0; j < TN; ++j) y_real[j] = y[j].x, y_imaginary[j] = y[j].y;
    multiply_tile<false>(x_real, y_real, real);
    multiply_tile<false>(x_imaginary, y_imaginary, imaginary);
  }
  __device__ void add(const double2 (&x)[TM], const double2 (&y)[TN]) {
    double x_both[TM], y_both[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i) x_both[i] = sum_of_parts(x[i]);
#pragma unroll
    for (int j = 0; j < TN; ++j) y_both[j] = y[j].x + y[j].y;
    add_parts(x, y);
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

// Arithmetic that the tall & skinny stages write once for double and for double2, a complex number. Kernels compiled at
// run time include it, too, so it includes nothing of the harness.
#pragma once

#include <cuda_runtime.h>

namespace gemm {

__host__ __device__ inline bool is_zero(double x) {
  return x == 0;
}
__host__ __device__ inline bool is_zero(const double2& x) {
  return x.x == 0 && x.y == 0;
}

/// sum + a * b: one FMA, or of complex numbers four.
__device__ inline double multiply_add(double a, double b, double sum) {
  return sum + a * b;
}
__device__ inline double2 multiply_add(double2 a, double2 b, double2 sum) {
  return make_double2(sum.x + a.x * b.x - a.y * b.y, sum.y + a.x * b.y + a.y * b.x);
}

__device__ inline double add(double a, double b) {
  return a + b;
}
__device__ inline double2 add(double2 a, double2 b) {
  return make_double2(a.x + b.x, a.y + b.y);
}

/// x, or its conjugate.
__device__ inline double conjugate_if(bool, double x) {
  return x;
}
__device__ inline double2 conjugate_if(bool conjugate, double2 x) {
  return make_double2(x.x, conjugate ? -x.y : x.y);
}

/// alpha * sum + beta * *out, which is not read if beta = 0: it may hold NaN.
template <class T>
__device__ T scaled(T alpha, T sum, T beta, const T* out) {
  const T product = multiply_add(alpha, sum, T{});
  return is_zero(beta) ? product : multiply_add(beta, *out, product);
}

}  // namespace gemm

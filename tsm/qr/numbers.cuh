// Arithmetic of the QR kernels, for double and double2.
#pragma once

#include "common/kernel/complex.cuh"

namespace gemm::qr {

__device__ inline double real_part(double x) {
  return x;
}
__device__ inline double real_part(double2 x) {
  return x.x;
}
__device__ inline double from_real(double x, double) {
  return x;
}
__device__ inline double2 from_real(double x, double2) {
  return make_double2(x, 0);
}
__device__ inline double times(double factor, double x) {
  return factor * x;
}
__device__ inline double2 times(double factor, double2 x) {
  return make_double2(factor * x.x, factor * x.y);
}
/// |x|^2
__device__ inline double square(double x) {
  return x * x;
}
__device__ inline double square(double2 x) {
  return x.x * x.x + x.y * x.y;
}
/// The sum over all lanes, in each of them.
__device__ inline double sum_of_warp(double x) {
  for (int lanes = 16; lanes > 0; lanes /= 2) x += __shfl_xor_sync(0xffffffff, x, lanes);
  return x;
}
__device__ inline double2 sum_of_warp(double2 x) {
  return make_double2(sum_of_warp(x.x), sum_of_warp(x.y));
}

}  // namespace gemm::qr

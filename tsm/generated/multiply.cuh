// The FMAs of a thread's tile, in an order in which each has an operand in common with the next: FP64 cores read three
// operands of 64 bits for each FMA, and registers give two in that time. What is kept from the FMA before is not read again.
#pragma once

#include <cuda_runtime.h>

#include "common/complex.cuh"

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

}  // namespace gemm::generated

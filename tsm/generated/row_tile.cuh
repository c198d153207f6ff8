// tsm/13's tiles: their sums begin anew with each turn, and a complex product's sums of parts come from shared memory.
#pragma once

#include <cuda_runtime.h>

#include "tsm/generated/multiply.cuh"

namespace gemm::generated {

template <class T, int TM, int TN>
__device__ void set(T (&sum)[TM][TN], double value) {
#pragma unroll
  for (int f = 0; f < TM * TN; ++f) {
    if constexpr (sizeof(T) == sizeof(double2))
      sum[f / TN][f % TN] = make_double2(value, value);
    else
      sum[f / TN][f % TN] = value;
  }
}

template <class T, int TM, int TN, int products>
struct RowTile : Tile<T, TM, TN, false, products> {
  /// Sums begin anew. What is added to -0 needs no addition; nvcc must not drop that of +0, since it makes +0 of -0.
  __device__ void begin(double zero) { set(this->sum, zero); }
  template <bool later, class Sum, class Late>
  __device__ void add(const T (&x)[TM], const T (&y)[TN], Sum, Late) {
    multiply_tile<false>(x, y, this->sum);
  }
};
template <int TM, int TN>
struct RowTile<double2, TM, TN, 3> : Tile<double2, TM, TN, false, 3> {
  __device__ void begin(double zero) { set(this->real, zero), set(this->imaginary, zero), set(this->both, zero); }
  /// sum_of(j): y[j].x + y[j].y. late(): what is to be done behind most FMAs, when y is needed no more. later: that is
  /// where the parts of x[i] are added up, too, which saves registers.
  template <bool later, class Sum, class Late>
  __device__ void add(const double2 (&x)[TM], const double2 (&y)[TN], Sum sum_of, Late late) {
    double x_both[TM], y_both[TN];
    const auto add_up = [&] {
#pragma unroll
      for (int i = 0; i < TM; ++i) x_both[i] = this->sum_of_parts(x[i]);
    };
    if constexpr (!later) add_up();
#pragma unroll
    for (int j = 0; j < TN; ++j) y_both[j] = sum_of(j);
    this->add_parts(x, y);
    late();
    if constexpr (later) add_up();
    multiply_tile<false>(x_both, y_both, this->both);
  }
};

}  // namespace gemm::generated

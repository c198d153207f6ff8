// Sums and products to twice the precision of double, for references: "Dot2" of Ogita, Rump and Oishi, "Accurate sum
// and dot product", SIAM J. Sci. Comput. 26 (2005). A sum comes out as if computed with 106 bits and then rounded.
#pragma once

#include <cuda_runtime.h>

namespace gemm {

/// high + low, not evaluated.
struct DoubleDouble {
  double high = 0, low = 0;

  __device__ void add(double x) {
    const double sum = __dadd_rn(high, x), of_x = __dsub_rn(sum, high);  // rounded: not to be fused with a product
    low = __dadd_rn(low, __dadd_rn(__dsub_rn(high, __dsub_rn(sum, of_x)), __dsub_rn(x, of_x)));
    high = sum;
  }
  __device__ void add_product(double x, double y) {
    const double product = __dmul_rn(x, y);
    add(product);
    low = __dadd_rn(low, __fma_rn(x, y, -product));
  }
  __device__ void add(DoubleDouble x) {
    add(x.high);
    low = __dadd_rn(low, x.low);
  }
  /// The same number, `high` being it rounded to double.
  __device__ DoubleDouble rounded() const {
    DoubleDouble sum{low, 0};
    sum.add(high);
    return sum;
  }
  /// Plus a * x.
  __device__ void add_product(double a, DoubleDouble x) {
    add_product(a, x.high);
    low = __dadd_rn(low, __dmul_rn(a, x.low));
  }
};

}  // namespace gemm

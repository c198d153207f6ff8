// Arithmetic on single elements, rounded to nearest even in their own type.
#pragma once

#include <math.h>

#include "fragment.hpp"

namespace wmma_ext::detail {

template <class T>
__device__ inline T plus(T a, T b) {
  return a + b;
}
template <class T>
__device__ inline T minus(T a, T b) {
  return a - b;
}
template <class T>
__device__ inline T times(T a, T b) {
  return a * b;
}
template <class T>
__device__ inline T divided(T a, T b) {
  return a / b;
}
/// a b + c, rounded once.
template <class T>
__device__ inline T multiply_add(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float>) {
    return ::fmaf(a, b, c);
  } else if constexpr (std::is_same_v<T, double>) {
    return ::fma(a, b, c);
  } else {
    return __hfma(a, b, c);
  }
}

}  // namespace wmma_ext::detail

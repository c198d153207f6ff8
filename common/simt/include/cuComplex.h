// Stands in for CUDA's header of the same name: complex numbers as pairs.
#pragma once

#include <cuda_runtime.h>

#define SIMT_COMPLEX(Type, Pair, Real, f)                                          \
  using Type = Pair;                                                               \
  inline __host__ __device__ Real cuCreal##f(Type x) {                             \
    return x.x;                                                                    \
  }                                                                                \
  inline __host__ __device__ Real cuCimag##f(Type x) {                             \
    return x.y;                                                                    \
  }                                                                                \
  inline __host__ __device__ Type make_##Type(Real re, Real im) {                  \
    return make_##Pair(re, im);                                                    \
  }                                                                                \
  inline __host__ __device__ Type cuConj##f(Type x) {                              \
    return make_##Pair(x.x, -x.y);                                                 \
  }                                                                                \
  inline __host__ __device__ Type cuCadd##f(Type x, Type y) {                      \
    return make_##Pair(x.x + y.x, x.y + y.y);                                      \
  }                                                                                \
  inline __host__ __device__ Type cuCsub##f(Type x, Type y) {                      \
    return make_##Pair(x.x - y.x, x.y - y.y);                                      \
  }                                                                                \
  inline __host__ __device__ Type cuCmul##f(Type x, Type y) {                      \
    return make_##Pair(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);              \
  }                                                                                \
  inline __host__ __device__ Type cuCfma##f(Type x, Type y, Type z) {              \
    return cuCadd##f(cuCmul##f(x, y), z);                                          \
  }                                                                                \
  inline __host__ __device__ Real cuCabs##f(Type x) {                              \
    return hypot(x.x, x.y);                                                        \
  }                                                                                \
  /* Scaled, so that squares neither overflow nor vanish. */                       \
  inline __host__ __device__ Type cuCdiv##f(Type x, Type y) {                      \
    const Real scale = 1 / (fabs(y.x) + fabs(y.y));                                \
    const Real a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale; \
    const Real inverse = 1 / (c * c + d * d);                                      \
    return make_##Pair((a * c + b * d) * inverse, (b * c - a * d) * inverse);      \
  }
SIMT_COMPLEX(cuFloatComplex, float2, float, f)
SIMT_COMPLEX(cuDoubleComplex, double2, double, )
#undef SIMT_COMPLEX

using cuComplex = cuFloatComplex;
inline __host__ __device__ cuComplex make_cuComplex(float re, float im) {
  return make_cuFloatComplex(re, im);
}
inline __host__ __device__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) {
  return make_cuDoubleComplex(x.x, x.y);
}
inline __host__ __device__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return make_cuFloatComplex(static_cast<float>(x.x), static_cast<float>(x.y));
}

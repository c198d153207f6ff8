// __half2 and __nv_bfloat162: what CUDA computes with pairs, element by element.
#pragma once

#include "common/simt/language/small_float_operations.hpp"

namespace simt {

template <class P>
concept SmallFloatPair = requires {
  typename P::simt_element;
};

/// The pair of operation(x of each) and operation(y of each).
template <SmallFloatPair P, class Operation, class... Others>
__forceinline__ P each(Operation operation, P first, Others... others) {
  P result;
  result.x = operation(first.x, others.x...);
  result.y = operation(first.y, others.y...);
  return result;
}

/// 1 for true, as the pair's element.
template <SmallFloatPair P>
__forceinline__ typename P::simt_element truth(bool value) {
  return narrow<typename P::simt_element>(value);
}

}  // namespace simt

template <simt::SmallFloatPair P>
__forceinline__ P __hadd2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hadd(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hadd2_rn(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hadd(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hsub2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hsub(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hsub2_rn(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hsub(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hmul2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hmul(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hmul2_rn(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hmul(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __h2div(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hdiv(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hmax2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hmax(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hmin2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hmin(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hfma2(P a, simt::Same<P> b, simt::Same<P> c) {
  return simt::each([](auto x, auto y, auto z) { return __hfma(x, y, z); }, a, b, c);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hneg2(P a) {
  return simt::each([](auto x) { return __hneg(x); }, a);
}
template <simt::SmallFloatPair P>
__forceinline__ P __habs2(P a) {
  return simt::each([](auto x) { return __habs(x); }, a);
}

// Comparisons: the pair of 1 or 0 for each element; a word of 16 bits for each; with a `b`, whether it holds for both.
#define SIMT_PAIRS_COMPARED(name)                                                            \
  template <simt::SmallFloatPair P>                                                          \
  __forceinline__ P __h##name##2(P a, simt::Same<P> b) {                                     \
    return simt::each([](auto x, auto y) { return simt::truth<P>(__h##name(x, y)); }, a, b); \
  }                                                                                          \
  template <simt::SmallFloatPair P>                                                          \
  __forceinline__ unsigned __h##name##2_mask(P a, simt::Same<P> b) {                         \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);  \
  }                                                                                          \
  template <simt::SmallFloatPair P>                                                          \
  __forceinline__ bool __hb##name##2(P a, simt::Same<P> b) {                                 \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                       \
  }
SIMT_PAIRS_COMPARED(eq)
SIMT_PAIRS_COMPARED(ne)
SIMT_PAIRS_COMPARED(lt)
SIMT_PAIRS_COMPARED(le)
SIMT_PAIRS_COMPARED(gt)
SIMT_PAIRS_COMPARED(ge)
SIMT_PAIRS_COMPARED(equ)
SIMT_PAIRS_COMPARED(neu)
SIMT_PAIRS_COMPARED(ltu)
SIMT_PAIRS_COMPARED(leu)
SIMT_PAIRS_COMPARED(gtu)
SIMT_PAIRS_COMPARED(geu)
#undef SIMT_PAIRS_COMPARED

template <simt::SmallFloatPair P>
__forceinline__ P operator+(P a, P b) {
  return __hadd2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P& operator+=(P& a, simt::Same<P> b) {
  return a = __hadd2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P operator-(P a, P b) {
  return __hsub2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P& operator-=(P& a, simt::Same<P> b) {
  return a = __hsub2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P operator*(P a, P b) {
  return __hmul2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P& operator*=(P& a, simt::Same<P> b) {
  return a = __hmul2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P operator/(P a, P b) {
  return __h2div(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P& operator/=(P& a, simt::Same<P> b) {
  return a = __h2div(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P operator-(P a) {
  return __hneg2(a);
}
template <simt::SmallFloatPair P>
__forceinline__ bool operator==(P a, P b) {
  return __hbeq2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool operator!=(P a, P b) {
  return __hbneu2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool operator<(P a, P b) {
  return __hblt2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool operator<=(P a, P b) {
  return __hble2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool operator>(P a, P b) {
  return __hbgt2(a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool operator>=(P a, P b) {
  return __hbge2(a, b);
}

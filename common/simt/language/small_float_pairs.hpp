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
__forceinline__ P __hsub2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return __hsub(x, y); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hmul2(P a, simt::Same<P> b) {
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

// Comparisons: the pair of 1 or 0 for each element; with a `b`, whether it holds for both.
template <simt::SmallFloatPair P>
__forceinline__ P __heq2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return simt::truth<P>(__heq(x, y)); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool __hbeq2(P a, simt::Same<P> b) {
  return __heq(a.x, b.x) && __heq(a.y, b.y);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hne2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return simt::truth<P>(__hne(x, y)); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool __hbne2(P a, simt::Same<P> b) {
  return __hne(a.x, b.x) && __hne(a.y, b.y);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hlt2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return simt::truth<P>(__hlt(x, y)); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool __hblt2(P a, simt::Same<P> b) {
  return __hlt(a.x, b.x) && __hlt(a.y, b.y);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hle2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return simt::truth<P>(__hle(x, y)); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool __hble2(P a, simt::Same<P> b) {
  return __hle(a.x, b.x) && __hle(a.y, b.y);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hgt2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return simt::truth<P>(__hgt(x, y)); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool __hbgt2(P a, simt::Same<P> b) {
  return __hgt(a.x, b.x) && __hgt(a.y, b.y);
}
template <simt::SmallFloatPair P>
__forceinline__ P __hge2(P a, simt::Same<P> b) {
  return simt::each([](auto x, auto y) { return simt::truth<P>(__hge(x, y)); }, a, b);
}
template <simt::SmallFloatPair P>
__forceinline__ bool __hbge2(P a, simt::Same<P> b) {
  return __hge(a.x, b.x) && __hge(a.y, b.y);
}
template <simt::SmallFloatPair P>
__forceinline__ bool __hbneu2(P a, simt::Same<P> b) {
  return __hneu(a.x, b.x) && __hneu(a.y, b.y);
}

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

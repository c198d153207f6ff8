// Who has which part of C, in a slice of a block.
#pragma once

#include <cuda_runtime.h>

#include "tsm/generated/slices.cuh"

namespace gemm::generated {

/// `count` threads, along_m x along_n of them. A 16-byte load of a warp takes half as long if lanes n and n ^ 1 want
/// the same words, or n and n ^ 2; so where both numbers are even, neighbours in a row are n and n ^ 1, in a column n
/// and n ^ 2.
struct Places {
  int along_m, along_n, count;

  __host__ __device__ constexpr bool paired() const { return along_m % 2 == 0 && along_n % 2 == 0; }
  __host__ __device__ constexpr int row(int place) const {
    return paired() ? place / (2 * along_n) * 2 + place / 2 % 2 : place / along_n;
  }
  __host__ __device__ constexpr int col(int place) const {
    return paired() ? place % (2 * along_n) / 4 * 2 + place % 2 : place % along_n;
  }
};

/// Of a C of so many units, where a thread has at most pm x pn of them.
__host__ __device__ constexpr Places places_of(int units_m, int units_n, int pm, int pn) {
  const int along_m = ceil_div(units_m, pm), along_n = ceil_div(units_n, pn);
  return {along_m, along_n, along_m * along_n};
}

/// Of a warp, if so many lanes have a row between them.
__host__ __device__ constexpr Places places_of_warp(int along_n) {
  return {32 / along_n, along_n, 32 / along_n * along_n};
}

/// Whether rows in shared memory are swizzled where so many threads have a whole C: if a load's lanes read several
/// rows.
__host__ __device__ constexpr bool swizzled(int count) {
  return count < 16;
}
/// Slices of a block; where rows are swizzled, a multiple of 8, so that all of a thread's rows are so in the same way;
/// and `by_twos` an even number.
__host__ __device__ constexpr int slices_of_block(int threads, int count, bool by_twos) {
  const int multiple = swizzled(count) ? 8 : by_twos ? 2 : 1;
  return threads / count / multiple * multiple;
}

}  // namespace gemm::generated

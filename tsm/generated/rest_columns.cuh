// Columns of B that are left over in tsm/13 where the lanes of a row have the same number of whole units each: the rest.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/row_tile.cuh"
#include "tsm/generated/stream.cuh"

namespace gemm::generated {

/// The rest is dealt out by rows and terms: lane l has row l % slots of its warp's, and l / slots says which one of each
/// `parts` units of A. So neighbours read one column of A, which takes no bank twice, and the sums of `parts` lanes are
/// added up.
struct RestLayout {
  int columns, slots, parts;  ///< slots: rows of a warp, and as many more as make a power of two
  int share;                  ///< columns whose FMAs stand beside one unit's
  int bytes;                  ///< of C's rest for a unit of A: columns one behind the other, each with all its terms
};
__host__ __device__ constexpr int share_of_rest(int columns, int units) {
  return units < 2 || ceil_div(columns, units) > 2 ? ceil_div(columns, units) : 2;
}
__host__ __device__ constexpr RestLayout rest_layout(int columns, int rows, int unit, int element_bytes) {
  if (columns == 0) return {0, 32, 1, 0, 0};
  int slots = 1;
  while (slots < rows) slots *= 2;
  const int parts = 32 / slots;
  return {columns, slots, parts, share_of_rest(columns, parts), ceil_div(columns * unit * element_bytes, 16) * 16};
}

/// Of a chunk's units the u-th one, for the rest: the first of those that go with it, a lane having one of them; how
/// many these are; and the columns from `column` to `end`, whose FMAs stand beside this unit's.
struct RestStep {
  int first, units, column, end;

  __host__ __device__ constexpr RestStep(int u, int of_chunk, int parts, int columns) {
    const int fewer = of_chunk % parts;
    first = u < fewer ? 0 : u - (u - fewer) % parts;
    units = u < fewer ? fewer : parts;
    const int share = share_of_rest(columns, units);
    column = smaller((u - first) * share, columns);
    end = smaller(column + share, columns);
  }
};

__device__ inline double of_lane_xor(double x, int lanes) {
  return __shfl_xor_sync(0xffffffff, x, lanes);
}
__device__ inline double2 of_lane_xor(double2 x, int lanes) {
  return make_double2(of_lane_xor(x.x, lanes), of_lane_xor(x.y, lanes));
}

/// A lane's part of it. Of complex numbers four products: three would take more loads than they save FMAs. Of each
/// `parts` units of a chunk, and first of those that are left over, a lane has one; a share of its columns stands beside
/// each unit's FMAs. What is loaded ahead of these is wanted behind them, so one set of it is enough.
template <class T, RestLayout rest, int unit>
struct RestColumns {
  static constexpr int element = sizeof(T), columns = rest.columns > 0 ? rest.columns : 1;
  static_assert(rest.parts >= 1);

  int part;  ///< lane / slots
  alignas(16) T x[unit], y[columns * unit];
  T sum[columns][1][1];

  /// Stores the rest of alpha C. All threads of the block must call it.
  template <int M, int threads>
  __device__ static void store_c(unsigned char* to, const T* c, std::int64_t ldc, T alpha) {
    for (int i = threadIdx.x; i < M * rest.columns; i += threads) {
      const int row = i / rest.columns, col = i % rest.columns;
      reinterpret_cast<T*>(to + row / unit * rest.bytes)[col * unit + row % unit] =
          multiply_add(alpha, c[row * ldc + col], T{});
    }
  }

  __device__ void begin(double zero) {
#pragma unroll
    for (int col = 0; col < rest.columns; ++col) set(sum[col], zero);
  }
  /// Loads what the u-th of a chunk's units needs. x_first, y_first: this lane's first unit of A, and its rest of C.
  __device__ void read(int u, int units, ptx::SharedAddress x_first, ptx::SharedAddress y_first) {
    const RestStep its(u, units, rest.parts, rest.columns);
    if (its.units < rest.parts && part >= its.units) return;
    if (u == its.first) load_unit<unit>(x, x_first + u * (unit * element));
    constexpr int together = 16 / element;
    const int begin = its.column * unit, end = its.end * unit;
#pragma unroll
    for (int i = begin; i < end; ++i) {
      const ptx::SharedAddress from = y_first + (its.first * rest.bytes + i * element);
      if (i % together == 0 && i + together <= end)
        load_unit<together>(&y[i], from);
      else if (i % together == 0 || i == begin)
        load_unit<1>(&y[i], from);
    }
  }
  __device__ void multiply(int u, int units) {
    const RestStep its(u, units, rest.parts, rest.columns);
    if (its.units < rest.parts && part >= its.units) return;
#pragma unroll
    for (int col = its.column; col < its.end; ++col) {
#pragma unroll
      for (int v = 0; v < unit; ++v) {
        const T x_one[1] = {x[v]}, y_one[1] = {y[col * unit + v]};
        multiply_tile<false>(x_one, y_one, sum[col]);
      }
    }
  }
  /// Adds up the sums of the lanes that have the same row.
  __device__ void add_up() {
#pragma unroll
    for (int col = 0; col < rest.columns; ++col) {
      T& its = sum[col][0][0];
#pragma unroll
      for (int lanes = rest.slots; lanes < 32; lanes *= 2) its = add(its, of_lane_xor(its, lanes));
    }
  }
};

}  // namespace gemm::generated

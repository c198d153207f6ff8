// Rows of a tall matrix on their way through shared memory: copied asynchronously, a few stages ahead, whatever their
// alignment; and read 16 bytes at a time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/ptx.cuh"
#include "tsm/generated/slices.cuh"

namespace gemm::generated {

/// Rows of W elements in shared memory. A unit is 16 bytes; an odd number of units a row, so that a column's words lie in
/// all banks.
template <class T, int W>
struct Panel {
  static constexpr int per_unit = 16 / sizeof(T), units = ceil_div(W, per_unit), stride = (units | 1) * per_unit;

  /// Starts to copy `rows` rows, of which the first `existing` exist; zeros for the others. `wide`: all rows begin at a
  /// multiple of 16 bytes. `anywhere` is any address that may be read.
  template <int rows, int threads, bool wide>
  __device__ static void copy(T* to, const T* from, std::int64_t ld, int existing, const T* anywhere) {
    constexpr int width = wide ? units : W, piece = wide ? per_unit : 1, pieces = rows * width;
#pragma unroll
    for (int first = 0; first < pieces; first += threads) {
      const int i = first + threadIdx.x, row = i / width, col = i % width * piece;
      if (first + threads > pieces && i >= pieces) break;
      const T* const source = row < existing ? from + row * ld + col : anywhere;
      if constexpr (wide) {
        const int bytes = W % per_unit != 0 && col + piece > W ? 16 - static_cast<int>(sizeof(T)) : 16;
        ptx::cp_async_cg(to + row * stride + col, source, row < existing ? bytes : 0);
      } else {
        ptx::cp_async_ca<sizeof(T)>(to + row * stride + col, source, row < existing ? sizeof(T) : 0);
      }
    }
  }

  /// Zeros where a row's last unit has no column: copies of single elements leave it out.
  template <int rows, int threads>
  __device__ static void clear_edge(T* rows_begin) {
    if constexpr (W % per_unit != 0) {
      for (int row = threadIdx.x; row < rows; row += threads) rows_begin[row * stride + W] = T{};
    }
  }
};

/// Copies a unit; both sides are aligned to 16 bytes.
__device__ inline void copy_unit(double* to, const double* from) {
  *reinterpret_cast<double2*>(to) = *reinterpret_cast<const double2*>(from);
}
__device__ inline void copy_unit(double2* to, const double2* from) {
  *to = *from;
}

}  // namespace gemm::generated

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

  /// Zeros where a row's last unit has no column: copies of single elements leave it out.
  template <int rows, int threads>
  __device__ static void clear_edge(T* rows_begin) {
    if constexpr (W % per_unit != 0) {
      for (int row = threadIdx.x; row < rows; row += threads) rows_begin[row * stride + W] = T{};
    }
  }
};

/// A thread's copies of a matrix to stages of `rows` rows: of each stage `count`, always in the same columns, so that an
/// address costs no more than an addition. `wide`: all rows begin at multiples of 16 bytes.
template <class T, int W, int rows, int threads, bool wide>
struct Copies {
  using To = Panel<T, W>;
  static constexpr int piece = wide ? To::per_unit : 1, width = ceil_div(W, piece);  // of a copy, of a row in copies
  static constexpr int at_a_time = threads / width, count = ceil_div(rows, at_a_time);
  static_assert(at_a_time >= 1);

  int row, col;         ///< of the first copy
  const T* from;        ///< in the next stage
  std::int64_t apart;   ///< from one copy to the next
  std::int64_t stride;  ///< from one stage to the next

  /// From the stage that begins in row `first`, and then every `step` rows.
  __device__ Copies(const T* matrix, std::int64_t ld, std::int64_t first, std::int64_t step)
      : row(static_cast<int>(threadIdx.x) / width),
        col(static_cast<int>(threadIdx.x) % width * piece),
        from(matrix + (first + row) * ld + col),
        apart(at_a_time * ld),
        stride(step * ld) {}

  /// Starts the i-th copy of a stage of which so many rows exist, at least one; zeros for the others.
  __device__ void start(T* stage, int i, int existing) const {
    const int its = row + i * at_a_time;
    if (threads % width != 0 && row >= at_a_time) return;
    if (rows % at_a_time != 0 && i == count - 1 && its >= rows) return;
    T* const to = stage + its * To::stride + col;
    const bool exists = existing >= rows || its < existing;
    const T* const source = exists ? from + i * apart : from - row * (apart / at_a_time);  // or the stage's first row
    if constexpr (wide) {
      const int bytes = W % piece != 0 && col + piece > W ? 16 - static_cast<int>(sizeof(T)) : 16;
      ptx::cp_async_cg(to, source, exists ? bytes : 0);
    } else {
      ptx::cp_async_ca<sizeof(T)>(to, source, exists ? sizeof(T) : 0);
    }
  }
  __device__ void next() { from += stride; }
};

/// Copies a unit; both sides are aligned to 16 bytes.
__device__ inline void copy_unit(double* to, const double* from) {
  *reinterpret_cast<double2*>(to) = *reinterpret_cast<const double2*>(from);
}
__device__ inline void copy_unit(double2* to, const double2* from) {
  *to = *from;
}

}  // namespace gemm::generated

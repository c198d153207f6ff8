// Rows of a tall matrix on their way through shared memory: copied asynchronously, a few stages ahead, whatever their
// alignment; and read 16 bytes at a time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/ptx.cuh"
#include "tsm/generated/slices.cuh"

namespace gemm::generated {

/// Units of 16 bytes that a row of so many elements takes.
template <class T>
__host__ __device__ constexpr int units_of(int width) {
  return ceil_div(width, 16 / sizeof(T));
}

/// Rows of W elements in shared memory, in units of 16 bytes, one row behind the other without padding: so copies of
/// neighbours in device memory meet in no bank. Where neighbouring lanes read the same column of eight rows, and there is
/// an even number of units in a row, two of these would meet; `swizzled` then deals the units of each row out differently.
template <class T, int W, bool swizzled>
struct Panel {
  static constexpr int per_unit = 16 / sizeof(T), units = units_of<T>(W), stride = units * per_unit;
  /// So many units change places among themselves: those that share their bank with the row behind next, or sooner.
  static constexpr int group = !swizzled || units % 2 ? 1 : units % 8 == 0 ? 8 : units % 4 == 0 ? 4 : 2;

  /// What the number of a unit is XORed with to find its place; the same in rows that are 8 apart. Two rows differ first in
  /// the highest bit, since lanes of the same row have neighbouring units.
  __device__ static int swizzle(int row) {
    return group == 1   ? 0
           : group == 2 ? row / 4 % 2
           : group == 4 ? row / 2 % 2 * 2 + row / 4 % 2
                        : row % 2 * 4 + row / 2 % 2 * 2 + row / 4 % 2;
  }
  /// Where a row has an element, from its first place on.
  __device__ static int place(int row, int col) { return (col / per_unit ^ swizzle(row)) * per_unit + col % per_unit; }

  /// Zeros where a row's last unit has no column: copies of single elements leave it out.
  template <int rows, int threads>
  __device__ static void clear_edge(T* rows_begin) {
    if constexpr (W % per_unit != 0) {
      for (int row = threadIdx.x; row < rows; row += threads) rows_begin[row * stride + place(row, W)] = T{};
    }
  }
};

/// A thread's copies of a matrix to stages of `rows` rows: of each stage `count`, always in the same columns, so that an
/// address costs no more than an addition. `wide`: all rows begin at multiples of 16 bytes.
template <class T, int W, bool swizzled, int rows, int threads, bool wide>
struct Copies {
  using To = Panel<T, W, swizzled>;
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

  /// Starts the i-th copy of a stage, all of whose rows exist.
  __device__ void start(T* stage, int i) const {
    if (has(i)) start_one(stage, i, from + i * apart, true);
  }
  /// Starts all copies of a stage of which only so many rows exist, at least one; zeros for the others.
  __device__ void start_part(T* stage, int existing) const {
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      if (!has(i)) continue;
      const bool exists = row + i * at_a_time < existing;
      // A source is needed in any case: else the stage's first row.
      start_one(stage, i, exists ? from + i * apart : from - row * (apart / at_a_time), exists);
    }
  }
  __device__ void next() {
    from += stride;
  }

 private:
  __device__ bool has(int i) const {
    if (threads % width != 0 && row >= at_a_time) return false;
    return rows % at_a_time == 0 || i < count - 1 || row + i * at_a_time < rows;
  }
  __device__ void start_one(T* stage, int i, const T* source, bool exists) const {
    const int its = row + i * at_a_time;
    T* const to = stage + its * To::stride + To::place(its, col);
    if constexpr (wide) {
      const int bytes = W % piece != 0 && col + piece > W ? 16 - static_cast<int>(sizeof(T)) : 16;
      ptx::cp_async_cg(to, source, exists ? bytes : 0);
    } else {
      ptx::cp_async_ca<sizeof(T)>(to, source, exists ? sizeof(T) : 0);
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

// Rows of a tall matrix in flight through shared memory: copied asynchronously, a few stages ahead, whatever their
// alignment, and read 16 bytes at a time where rows have a whole number of these.
//
// Beside FMAs every instruction counts: it reads registers through the ports that FMAs want (docs/tsm/probes.md). So
// addresses in shared memory are numbers of 32 bits here, and a copy or load differs from the one before by a constant.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/ptx.cuh"
#include "tsm/generated/slices.cuh"

namespace gemm::generated {

/// Elements that are read at a time from rows of so many: 16 bytes of them, if a row has a whole number of those.
__host__ __device__ constexpr int unit_of(int width, int element_bytes) {
  return element_bytes == 16 || width % 2 != 0 ? 1 : 2;
}

/// How the rows of a matrix lie in device memory: without padding, from an address that 16 divides; padded, but each
/// from such an address; or else. displaced: without padding, from an address that 16 divides and 32 does not. Only of
/// what is stored: to store parts of sectors costs, to load from them does not.
enum class Rows { flat, wide, any, displaced };
__host__ __device__ constexpr bool has_gaps(Rows how) {
  return how == Rows::wide || how == Rows::any;
}

/// Copies a piece: 16 bytes, or 8. If it does not exist (bytes is 0), zeros.
template <int piece>
__device__ inline void copy_piece(ptx::SharedAddress to, const void* source, int bytes = piece) {
  if constexpr (piece == 16)
    ptx::cp_async_cg(to, source, bytes);
  else
    ptx::cp_async_ca<piece>(to, source, bytes);
}
/// Copies the first so many of 16 bytes, a multiple of 8 or none; zeros for the rest. It reads no more than these.
__device__ inline void copy_part_of_16(ptx::SharedAddress to, const void* source, int bytes) {
  if (bytes >= 16) {
    ptx::cp_async_cg(to, source);
  } else {
    ptx::cp_async_ca<8>(to, source, bytes);
    ptx::cp_async_ca<8>(to + 8, source, 0);
  }
}

/// Rows of W elements in shared memory, in units of so many, one row behind the other without padding: so copies of
/// neighbours in device memory meet in no bank. Where neighbouring lanes read the same column of eight rows, and there
/// is an even number of 16-byte units in a row, two of these would meet; `by_turns` then puts the units of each row
/// in another order.
template <class T, int W, int unit_, bool by_turns>
struct Panel {
  static constexpr int width = W, unit = unit_, units = ceil_div(W, unit);
  /// Units of two in rows of an odd number: every second row begins amid 16 bytes. There they begin a column earlier,
  /// with the last one of the row before; in the other rows the last one ends with the first column of the row behind.
  static constexpr bool shifted = W % unit != 0;
  /// So many units change places among themselves: those that share their bank with the row behind next, or sooner.
  static constexpr int group = !by_turns || shifted    ? 1
                               : units % 2             ? 1
                               : unit * sizeof(T) < 16 ? 1
                               : units % 8 == 0        ? 8
                               : units % 4 == 0        ? 4
                                                       : 2;

  /// What the number of a unit is XORed with to find its place; the same in rows that are 8 apart. Two rows differ
  /// first in the highest bit, since lanes of the same row have neighbouring units.
  __device__ static int swizzle(int row) {
    return group == 1   ? 0
           : group == 2 ? row / 4 % 2
           : group == 4 ? row / 2 % 2 * 2 + row / 4 % 2
                        : row % 2 * 4 + row / 2 % 2 * 2 + row / 4 % 2;
  }
  /// The column before a row's first unit: 0 or -1.
  __device__ static int before(int row) { return shifted ? -(row % 2) : 0; }
  /// Bytes from a row's first place to that of its u-th unit; if shifted, from where the first unit begins.
  __device__ static int offset(int row, int u) { return (u ^ swizzle(row)) * static_cast<int>(unit * sizeof(T)); }
};

/// A thread's copies of a matrix to stages of `rows` rows, always the same part of a stage. Of a stage that is one
/// range each warp copies a part, 512 bytes at a time: so a copy's address is the first one's and a constant that fits
/// the instruction.
template <class T, int W, int unit, bool by_turns, int rows, int threads, Rows how>
struct Copies {
  using To = Panel<T, W, unit, by_turns>;
  static constexpr int row_bytes = W * sizeof(T), stage_bytes = rows * row_bytes;
  /// Pieces of 16 bytes of a stage as a whole; or else a thread's are all in the same columns.
  static constexpr bool in_one = how == Rows::flat && To::group == 1 && stage_bytes % 16 == 0;
  static constexpr int piece = how != Rows::any && row_bytes % 16 == 0 || in_one ? 16 / sizeof(T) : 1;  // elements
  static constexpr int size = piece * sizeof(T);
  static constexpr int pieces = in_one ? stage_bytes / 16 : W / piece;  // of a stage or of a row
  // Where units change places, rows that are a multiple of 8 apart do it in the same way.
  static constexpr int fit = threads / pieces, at_a_time = in_one ? 1 : To::group > 1 && fit >= 8 ? fit / 8 * 8 : fit;
  static constexpr int lines = ceil_div(pieces, 32), warps = threads / 32;  // of a stage as a whole: 32 pieces each
  static constexpr int count = in_one ? ceil_div(lines, warps) : ceil_div(rows, at_a_time);
  static_assert(in_one || at_a_time >= 1);

  const T* from;        ///< in the next stage
  std::int64_t apart;   ///< bytes from one copy to the next
  std::int64_t stride;  ///< elements from one stage to the next
  int row, at;          ///< of the first copy: its row, its offset in the stage
  int its;              ///< copies of a stage as a whole, if it is this lane's

  /// From the stage that begins in row `first`, and then every `step` rows.
  __device__ Copies(const T* matrix, std::int64_t ld, std::int64_t first, std::int64_t step) {
    if (how == Rows::flat) ld = W;
    const int thread = threadIdx.x;
    stride = step * ld;
    if (in_one) {
      const int warp = thread / 32, mine = (warp * (lines / warps) + smaller(warp, lines % warps)) * 32 + thread % 32;
      const int of_warp = lines / warps + (warp < lines % warps);
      from = matrix + first * ld + mine * piece;
      apart = 512;
      row = 0;
      at = mine * 16;
      its = of_warp - (of_warp > 0 && mine + (of_warp - 1) * 32 >= pieces);
    } else {
      row = thread / pieces;
      const int col = thread % pieces * piece;
      from = matrix + (first + row) * ld + col;
      apart = static_cast<std::int64_t>(sizeof(T)) * at_a_time * ld;
      at = row * row_bytes + To::offset(row, col / To::unit) + col % To::unit * sizeof(T);
      its = 0;
    }
  }

  /// Starts the copies of a stage all of whose rows exist.
  __device__ void start(ptx::SharedAddress stage) const {
    const char* next = reinterpret_cast<const char*>(from);
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (has(i)) copy_piece<size>(stage + offset(i), how == Rows::flat ? source(i) : reinterpret_cast<const T*>(next));
      // Kept: else nvcc would have multiples of it in registers, and none for sums.
      if (how != Rows::flat) next = ptx::kept(next + apart);
    }
  }
  /// Starts those of a stage of which only so many rows exist, at least one; zeros for the others.
  __device__ void start_part(ptx::SharedAddress stage, int existing) const {
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      if (!has(i)) continue;
      int bytes = 16;
      if (in_one)
        bytes = existing * row_bytes - (at + i * 512);
      else if (row + i * at_a_time >= existing)
        bytes = 0;
      // A source is needed in any case: else the first of the stage.
      const T* const its =
          bytes > 0 ? source(i) : from - (in_one ? at / static_cast<int>(sizeof(T)) : row * stride_of_row());
      if constexpr (size == 16)
        copy_part_of_16(stage + offset(i), its, bytes < 0 ? 0 : bytes);
      else
        copy_piece<size>(stage + offset(i), its, smaller(bytes, size));
    }
  }
  __device__ void next() {
    from += stride;
  }

 private:
  __device__ std::int64_t stride_of_row() const {
    return apart / static_cast<std::int64_t>(sizeof(T)) / at_a_time;
  }
  __device__ bool has(int i) const {
    if (in_one) return pieces % threads == 0 || i < lines / warps - (pieces % 32 != 0) || i < its;
    if (threads % pieces != 0 || at_a_time != fit) {
      if (row >= at_a_time) return false;
    }
    return rows % at_a_time == 0 || i < count - 1 || row + i * at_a_time < rows;
  }
  __device__ const T* source(int i) const {
    // Known to the compiler where rows are not padded.
    const std::int64_t bytes = how == Rows::flat ? i * (in_one ? 512 : at_a_time * row_bytes) : i * apart;
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(from) + bytes);
  }
  __device__ int offset(int i) const {
    if (in_one) return at + i * 512;
    if (To::group == 1 || at_a_time % 8 == 0) return at + i * at_a_time * row_bytes;
    const int its = row + i * at_a_time, unit_bytes = To::unit * static_cast<int>(sizeof(T));
    const int u = (at - row * row_bytes) / unit_bytes ^ To::swizzle(row);
    return its * row_bytes + To::offset(its, u) + (at - row * row_bytes) % unit_bytes;
  }
};

/// Loads a unit: one double, two, or a complex number.
template <int unit>
__device__ void load_unit(double* to, ptx::SharedAddress from) {
  if constexpr (unit == 2)
    ptx::load_shared(to[0], to[1], from);
  else
    ptx::load_shared(to[0], from);
}
template <int unit>
__device__ void load_unit(double2* to, ptx::SharedAddress from) {
  ptx::load_shared(to->x, to->y, from);
}

}  // namespace gemm::generated

// Rows of a tall matrix of any width in shared memory, for kernels that are compiled before anybody knows the width: as
// ChunkCopies of tsm/generated/chunks.cuh, but what is a constant there is an argument of the kernel here.
#pragma once

#include <cstdint>

#include "tsm/generated/chunks.cuh"
#include "tsm/generated/pipeline_model.hpp"

namespace gemm::ahead {

using generated::ceil_div;
using generated::Rows;

/// Quotients of numbers below 2^15, by a multiplication: kernels divide by widths for each copy.
struct Divisor {
  std::uint32_t factor = 0;

  Divisor() = default;
  explicit Divisor(int by) : factor(static_cast<std::uint32_t>(((std::uint64_t{1} << 31) + by - 1) / by)) {}
  __device__ int divide(int number) const {
    return static_cast<int>(std::uint64_t{static_cast<std::uint32_t>(number)} * factor >> 31);
  }
};

/// A stage of `rows` rows in four chunks, and how it is copied there.
struct RowLayout {
  int row_bytes = 0, chunk_bytes = 0, chunk_stride = 0, stage_bytes = 0;
  int rows = 0;
  int lines = 0;   ///< ranges of device memory that are copied: rows, or chunks where the matrix has no padding
  int pieces = 0;  ///< of a line
  bool in_one = false, by_16_bytes = false;
  Divisor by_pieces, by_chunk_rows;

  /// apart: bytes from a chunk to the next, modulo 128.
  RowLayout(int width, int element, int rows, int apart, Rows how)
      : row_bytes(width * element),
        chunk_bytes(rows / 4 * row_bytes),
        chunk_stride(generated::chunk_stride(chunk_bytes, apart)),
        stage_bytes(ceil_div(4 * chunk_stride, 16) * 16),
        rows(rows),
        by_chunk_rows(rows / 4) {
    in_one = how == Rows::flat && chunk_bytes % 16 == 0;
    by_16_bytes = element == 16 || in_one || (how == Rows::wide && row_bytes % 16 == 0);
    lines = in_one ? 4 : rows;
    pieces = (in_one ? chunk_bytes : row_bytes) / (by_16_bytes ? 16 : 8);
    by_pieces = Divisor(pieces);
  }
};

/// A thread's copies of stages, `threads` of them together.
template <class T>
struct RowCopies {
  const char* from;      ///< the next stage
  std::int64_t row;      ///< bytes from a row to the next
  std::int64_t forward;  ///< from a stage to the next

  /// Stages from row `first` on, and then every `step` rows.
  __device__ RowCopies(const T* matrix, std::int64_t ld, std::int64_t first, std::int64_t step)
      : from(reinterpret_cast<const char*>(matrix + first * ld)),
        row(ld * static_cast<std::int64_t>(sizeof(T))),
        forward(step * row) {}

  /// Starts the copies of the next stage, of which so many rows exist, at least one; zeros for the others.
  __device__ void start(const RowLayout& layout, ptx::SharedAddress stage, int existing, int thread, int threads) {
    if (layout.by_16_bytes)
      start_pieces<16>(layout, stage, existing, thread, threads);
    else
      start_pieces<8>(layout, stage, existing, thread, threads);
    from += forward;
  }

 private:
  template <int piece>
  __device__ void start_pieces(const RowLayout& layout, ptx::SharedAddress stage, int existing, int thread,
                               int threads) const {
    const int all = layout.lines * layout.pieces, gap = layout.chunk_stride - layout.chunk_bytes;
    const int there = existing * layout.row_bytes;  // bytes, where the stage is one range
#pragma unroll 4
    for (int p = thread; p < all; p += threads) {
      const int line = layout.by_pieces.divide(p), at = (p - line * layout.pieces) * piece;
      const int chunk = layout.in_one ? line : layout.by_chunk_rows.divide(line);
      const int offset = line * (layout.in_one ? layout.chunk_bytes : layout.row_bytes) + at;  // without gaps
      const int left = layout.in_one ? there - offset : line < existing ? piece : 0;
      const int wanted = left < 0 ? 0 : left < piece ? left : piece;
      // A source is needed in any case: else the stage's first row.
      const char* const source = wanted == 0 ? from : layout.in_one ? from + offset : from + line * row + at;
      if constexpr (piece == 16)
        ptx::cp_async_cg(stage + offset + chunk * gap, source, wanted);
      else
        ptx::cp_async_ca<8>(stage + offset + chunk * gap, source, wanted);
    }
  }
};

/// Waits until so many of a thread's newest copies may be missing; a constant of the instruction.
__device__ inline void wait_for_all_but(int newest) {
  switch (newest) {
    case 0:
      return ptx::cp_async_wait<0>();
    case 1:
      return ptx::cp_async_wait<1>();
    case 2:
      return ptx::cp_async_wait<2>();
    case 3:
      return ptx::cp_async_wait<3>();
    case 5:
      return ptx::cp_async_wait<5>();
    default:
      return ptx::cp_async_wait<7>();
  }
}

}  // namespace gemm::ahead

// Rows of a tall matrix of any width in shared memory, for kernels that are compiled before anybody knows the width: as
// ChunkCopies of tsm/generated/chunks.cuh, but what is a constant there is an argument of the kernel here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tsm/ahead/ahead.hpp"
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

/// Where a stage of `rows` rows lies in shared memory: in four chunks.
struct RowLayout {
  int row_bytes = 0, chunk_bytes = 0, chunk_stride = 0, stage_bytes = 0;
  int rows = 0;
  Divisor by_chunk_rows;

  /// apart: bytes from a chunk to the next, modulo 128.
  RowLayout(int width, int element, int rows, int apart)
      : row_bytes(width * element),
        chunk_bytes(rows / 4 * row_bytes),
        chunk_stride(generated::chunk_stride(chunk_bytes, apart)),
        stage_bytes(ceil_div(4 * chunk_stride, 16) * 16),
        rows(rows),
        by_chunk_rows(rows / 4) {}
};

/// Starts the copies of a piece of every `apart`-th row from `line` on, to place(row); zeros for rows from `existing` on.
/// first: the piece in the first row, a row that exists. whole: all rows exist, so that no copy needs a number of bytes.
/// in_pairs: two copies without a branch. (With four a multiprocessor had a block less: that many registers.)
template <int piece, bool whole, bool in_pairs, class Place>
__device__ void copy_column(const char* first, std::int64_t row_bytes, int line, int apart, int rows, int existing,
                            const Place& place) {
  const std::int64_t step = apart * row_bytes;
  const auto copy_row = [&](int row, const char* from) {
    const bool exists = whole || row < existing;
    if constexpr (piece == 16)
      ptx::cp_async_cg(place(row), exists ? from : first, exists ? piece : 0);
    else
      ptx::cp_async_ca<piece>(place(row), exists ? from : first, exists ? piece : 0);
  };
  const char* from = first + line * row_bytes;
  int row = line;
  if constexpr (whole && in_pairs) {
#pragma unroll 1
    for (; row + apart < rows; row += 2 * apart, from += 2 * step) {
      copy_row(row, from);
      copy_row(row + apart, from + step);
    }
  }
#pragma unroll 1
  for (; row < rows; row += apart, from += step) copy_row(row, from);
}

/// A tall matrix that is copied stage by stage, row by row. A row is copied in pieces of 16 bytes, if its blocks all
/// allow that, or in elements.
template <class T>
struct TallRows {
  RowLayout layout;
  int pieces = 0;  ///< of a row
  bool by_16_bytes = sizeof(T) == 16;
  int at_a_time = 1;  ///< rows that `threads` threads copy side by side
  Divisor by_pieces;
  int count = 0;
  struct Source {
    const char* data = nullptr;
    std::int64_t row = 0;  ///< bytes from a row to the next
    int first_piece = 0;
  } block[most_blocks];

  TallRows(const TallMatrix<T>& matrix, int rows, int apart, int threads)
      : layout(matrix.columns(), sizeof(T), rows, apart), count(matrix.count) {
    constexpr std::int64_t element = sizeof(T);
    const auto in_pairs = [&](const auto& its) {
      return reinterpret_cast<std::uintptr_t>(its.data) % 16 == 0 && its.ld * element % 16 == 0 &&
             its.columns * element % 16 == 0;
    };
    by_16_bytes = std::all_of(matrix.block, matrix.block + count, in_pairs);
    const int piece = by_16_bytes ? 16 : 8;
    for (int i = 0; i < count; ++i) {
      const auto& its = matrix.block[i];
      block[i] = {reinterpret_cast<const char*>(its.data), its.ld * element, pieces};
      pieces += its.columns * static_cast<int>(element) / piece;
    }
    at_a_time = std::clamp(threads / pieces, 1, rows);
    by_pieces = Divisor(pieces);
  }

  /// Starts this thread's part of the copies of a stage, the rows from `first` on, of which so many exist, at least one;
  /// zeros for the others. `threads` threads do it together.
  __device__ void copy(ptx::SharedAddress stage, std::int64_t first, int existing, int thread, int threads) const {
    if (by_16_bytes)
      copy_pieces<16>(stage, first, existing, thread, threads);
    else
      copy_pieces<8>(stage, first, existing, thread, threads);
  }

 private:
  template <int piece>
  __device__ void copy_pieces(ptx::SharedAddress stage, std::int64_t first, int existing, int thread,
                              int threads) const {
    const int line = by_pieces.divide(thread);
    if (line >= at_a_time) return;
#pragma unroll 1  // one turn, but if a row has more pieces than there are threads
    for (int p = thread - line * pieces; p < pieces; p += threads) {
      int of = 0;
      for (int i = 1; i < count; ++i) of += p >= block[i].first_piece;
      const Source& its = block[of];
      const char* const from = its.data + first * its.row + (p - its.first_piece) * piece;
      const int gap = layout.chunk_stride - layout.chunk_bytes;
      const auto place = [&](int row) -> ptx::SharedAddress {
        return stage + p * piece + row * layout.row_bytes + layout.by_chunk_rows.divide(row) * gap;
      };
      if (existing >= layout.rows)
        copy_column<piece, true, true>(from, its.row, line, at_a_time, layout.rows, existing, place);
      else
        copy_column<piece, false, true>(from, its.row, line, at_a_time, layout.rows, existing, place);
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

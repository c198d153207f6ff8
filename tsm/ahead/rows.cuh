// Rows of a tall matrix of any width in shared memory, for kernels that are compiled before anybody knows the width: as
// ChunkCopies of tsm/generated/chunks.cuh, but what is a constant there is an argument of the kernel here.
#pragma once

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

/// A block of the matrix, and how it is copied to a stage.
template <class T>
struct BlockSource {
  const char* data = nullptr;
  std::int64_t row = 0;  ///< bytes from a row to the next
  int at = 0;            ///< bytes of a row before this block's
  int pieces = 0;        ///< of a row, or of a chunk, if chunks are copied
  bool by_16_bytes = false;
  Divisor by_pieces;
};

/// A tall matrix that is copied stage by stage: rows, or chunks where it is one block without padding.
template <class T>
struct TallRows {
  RowLayout layout;
  int count = 0;
  bool in_chunks = false;
  BlockSource<T> block[most_blocks];

  TallRows(const TallMatrix<T>& matrix, int rows, int apart)
      : layout(matrix.columns(), sizeof(T), rows, apart), count(matrix.count) {
    constexpr int element = sizeof(T);
    const auto rows_of = [](const auto& its) { return generated::rows_of(its.data, its.ld, its.columns); };
    in_chunks = count == 1 && rows_of(matrix.block[0]) == Rows::flat && layout.chunk_bytes % 16 == 0;
    int at = 0;
    for (int i = 0; i < count; ++i) {
      const auto& its = matrix.block[i];
      const int bytes = in_chunks ? layout.chunk_bytes : its.columns * element;
      const std::int64_t row = its.ld * element;
      const bool pairs =
          bytes % 16 == 0 && row % 16 == 0 && rows_of(its) != Rows::any && at % 16 == 0 && layout.row_bytes % 16 == 0;
      const bool by_16_bytes = in_chunks || element == 16 || pairs;
      const int pieces = bytes / (by_16_bytes ? 16 : 8);
      block[i] = {reinterpret_cast<const char*>(its.data), row, at, pieces, by_16_bytes, Divisor(pieces)};
      at += bytes;
    }
  }

  /// Starts this thread's part of the copies of a stage, the rows from `first` on, of which so many exist, at least one;
  /// zeros for the others. `threads` threads do it together.
  __device__ void copy(ptx::SharedAddress stage, std::int64_t first, int existing, int thread, int threads) const {
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      const BlockSource<T>& its = block[i];
      const char* const from = its.data + first * its.row;
      if (its.by_16_bytes)
        copy_pieces<16>(its, stage + its.at, from, existing, thread, threads);
      else
        copy_pieces<8>(its, stage + its.at, from, existing, thread, threads);
    }
  }

 private:
  template <int piece>
  __device__ void copy_pieces(const BlockSource<T>& its, ptx::SharedAddress stage, const char* from, int existing,
                              int thread, int threads) const {
    const int all = (in_chunks ? 4 : layout.rows) * its.pieces, gap = layout.chunk_stride - layout.chunk_bytes;
    const int there = existing * layout.row_bytes;  // bytes, where the stage is one range
#pragma unroll 4
    for (int p = thread; p < all; p += threads) {
      const int line = its.by_pieces.divide(p), at = (p - line * its.pieces) * piece;
      const int chunk = in_chunks ? line : layout.by_chunk_rows.divide(line);
      const int offset = line * (in_chunks ? layout.chunk_bytes : layout.row_bytes) + at;  // without gaps
      const int left = in_chunks ? there - offset : line < existing ? piece : 0;
      const int wanted = left < 0 ? 0 : left < piece ? left : piece;
      // A source is needed in any case: else the stage's first row.
      const char* const source = wanted == 0 ? from : in_chunks ? from + offset : from + line * its.row + at;
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

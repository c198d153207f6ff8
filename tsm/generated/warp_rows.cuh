// Rows of A in flight to the one warp that multiplies them: a ring of stages for each warp, which waits for no
// other.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/ptx.cuh"
#include "tsm/generated/slices.cuh"
#include "tsm/generated/stream.cuh"

namespace gemm::generated {

/// A stage: so many rows of A, and `chunk` of each row's units; the last chunk may have fewer. Behind each row there is
/// room for one unit where their number is even, so that eight rows' units of one column lie in different banks. But not
/// behind rows of 32 bytes: every second one would lie in the middle of 32 bytes, and come as two sectors. Of eight rows
/// each shares its banks with one other then.
struct StageLayout {
  int unit, units, chunk, chunks,
      last;           ///< elements of a unit; units of a row, of a chunk, of the last one; chunks of a row
  bool in_one;        ///< rows lie without padding here and there: one range, copied 16 bytes at a time
  int stride, bytes;  ///< of a row and of the stage
};
__host__ __device__ constexpr StageLayout stage_layout(int m, int element_bytes, Rows how, int rows, int chunk) {
  StageLayout s{};
  s.unit = unit_of(m, element_bytes);
  s.units = m / s.unit;
  s.chunk = smaller(chunk, s.units);
  s.chunks = ceil_div(s.units, s.chunk);
  s.last = s.units - (s.chunks - 1) * s.chunk;
  const int unit_bytes = s.unit * element_bytes;
  s.in_one = how == Rows::flat && s.chunks == 1 && (unit_bytes == 8 ? rows * m % 2 == 0 : s.units == 2);
  s.stride = (s.chunk % 2 == 0 && !s.in_one ? s.chunk + 1 : s.chunk) * unit_bytes;
  s.bytes = ceil_div(rows * s.stride, 16) * 16;
  return s;
}

/// A lane's copies of one of its warp's stages.
template <class T, int M, Rows how, int rows, int most>
struct WarpCopies {
  static constexpr StageLayout layout = stage_layout(M, sizeof(T), how, rows, most);
  static constexpr int element = sizeof(T), row_bytes = M * element, chunk_bytes = layout.chunk * layout.unit * element;
  // Of pieces: their bytes; how many a row has, or the whole stage; rows, or pieces, that all lanes copy at a time.
  static constexpr int piece =
      layout.in_one || element == 16 || (how != Rows::any && row_bytes % 16 == 0) ? 16 : element;
  static constexpr int pieces = layout.in_one ? rows * row_bytes / 16 : chunk_bytes / piece;
  static constexpr int at_a_time = layout.in_one ? 32 : 32 / pieces;
  static constexpr int count = ceil_div(layout.in_one ? pieces : rows, at_a_time);
  static_assert(at_a_time >= 1);

  const char* from;     ///< in the next stage
  std::int64_t apart;   ///< bytes from one copy to the next
  std::int64_t stride;  ///< bytes from a row to the next
  int step;             ///< rows from a stage's to those that come next
  int row, at;          ///< of the first copy: its row, its offset in the stage
  int col;              ///< bytes

  /// From row `first` on, and then every `step` rows.
  __device__ WarpCopies(const T* a, std::int64_t lda, int first, int step, int lane) : step(step) {
    if (how == Rows::flat) lda = M;
    row = layout.in_one ? 0 : lane / pieces;
    col = (layout.in_one ? lane : lane % pieces) * piece;
    from = reinterpret_cast<const char*>(a + static_cast<std::int64_t>(first + row) * lda) + col;
    apart = layout.in_one ? 32 * 16 : at_a_time * lda * element;
    stride = lda * element;
    at = layout.in_one ? col : row * layout.stride + col;
  }

  /// Starts those of a stage all of whose rows exist. last: it is a row's last chunk.
  __device__ void start(ptx::SharedAddress stage, bool last) const {
    if (!layout.in_one && 32 % pieces != 0 && row >= at_a_time) return;
    if (layout.last < layout.chunk && last && col >= layout.last * layout.unit * element) return;
    const char* next = from;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (has(i)) copy_piece<piece>(stage + at + i * distance, how == Rows::flat ? source(i) : next);
      // Kept: else nvcc would have multiples of it in registers, and none for sums.
      if (how != Rows::flat) next = ptx::kept(next + apart);
    }
  }
  /// Of which only so many rows exist, or none; zeros for the others. a: what exists in any case.
  __device__ void start_part(ptx::SharedAddress stage, bool last, int existing, const T* a) const {
    if (!layout.in_one && row >= at_a_time) return;
    if (layout.last < layout.chunk && last && col >= layout.last * layout.unit * element) return;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      if (!has(i)) continue;
      const int left = layout.in_one                    ? existing * row_bytes - col - i * 32 * 16
                       : row + i * at_a_time < existing ? piece
                                                        : 0;
      const char* const its = left > 0 ? source(i) : reinterpret_cast<const char*>(a);
      if constexpr (piece == 16)
        copy_part_of_16(stage + at + i * distance, its, left < 0 ? 0 : left);
      else
        copy_piece<piece>(stage + at + i * distance, its, left < 0 ? 0 : piece);
    }
  }
  __device__ void next(bool last) {
    from += layout.chunks == 1 ? step * its_stride()
            : last             ? step * its_stride() - (layout.chunks - 1) * chunk_bytes
                               : chunk_bytes;
  }

 private:
  // Known to the compiler where rows are not padded.
  __device__ std::int64_t its_stride() const {
    return how == Rows::flat ? row_bytes : stride;
  }
  static constexpr int distance = layout.in_one ? 32 * 16 : at_a_time * layout.stride;  // between copies, in the stage

  __device__ bool has(int i) const {
    if (layout.in_one) return pieces % 32 == 0 || i < count - 1 || col / 16 + i * 32 < pieces;
    return rows % at_a_time == 0 || i < count - 1 || row + i * at_a_time < rows;
  }
  __device__ const char* source(int i) const {
    if (how == Rows::flat) return from + i * (layout.in_one ? 32 * 16 : at_a_time * row_bytes);
    return from + i * apart;
  }
};

/// A lane's copies of all of its warp's stages, one behind the other: of the rows from `first` on, and then every `step`.
template <class T, int M, Rows how, int rows, int chunk>
struct WarpStages {
  static constexpr StageLayout layout = stage_layout(M, sizeof(T), how, rows, chunk);
  static_assert(layout.chunks == 1 || layout.chunk % 2 == 0);

  const T* a;
  std::int64_t k;
  int first, step;
  int mine, whole;  ///< turns with rows that exist; and those all of whose rows do, which are all but the last
  WarpCopies<T, M, how, rows, chunk> copies;
  int next = 0, next_chunk = 0;

  __device__ WarpStages(const T* a, std::int64_t lda, std::int64_t k, int first, int step, int lane)
      : a(a),
        k(k),
        first(first),
        step(step),
        mine(static_cast<int>((k - first - 1) / step) + 1),
        whole(first + rows <= k ? static_cast<int>((k - first - rows) / step) + 1 : 0),
        copies(a, lda, first, step, lane) {}

  __device__ void copy_next(ptx::SharedAddress to) {
    const bool last = layout.chunks == 1 || next_chunk == layout.chunks - 1;
    if (next < whole) [[likely]]
      copies.start(to, last);
    else if (next <= mine)  // zeros behind the last one: they are read before a warp sees that it is done
      copies.start_part(to, last,
                        next < mine ? static_cast<int>(k - first - static_cast<std::int64_t>(next) * step) : 0, a);
    ptx::cp_async_commit();
    copies.next(last);
    next += last;
    next_chunk = last ? 0 : next_chunk + 1;
  }
};

}  // namespace gemm::generated

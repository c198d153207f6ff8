// Rows of B from a warp's registers to device memory, in tsm/13: directly, or through shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "common/kernel/ptx.cuh"
#include "tsm/generated/row_stores.cuh"
#include "tsm/generated/warp_tile.cuh"

namespace gemm::generated {

/// Stores 16 bytes.
__device__ inline void store_unit(double* to, const double* from) {
  *reinterpret_cast<double2*>(to) = make_double2(from[0], from[1]);
}
__device__ inline void store_unit(double2* to, const double2* from) {
  *to = *from;
}

/// What a lane knows of its stores. W: its WarpTile; a warp's rows begin in row `first` and then every `step` rows.
template <class T, class W, int N, int PR, int along_n, Rows rows_b>
struct TileStores {
  static constexpr bool has_rest = W::rest_columns > 0, is_range = !has_gaps(rows_b);
  static constexpr int PN = W::PN, TN = W::TN, unit_n = W::unit_n, groups = W::groups, rows = W::rows,
                       element = sizeof(T), together = W::together, kept_words = W::kept_words;

  T* b;
  std::int64_t ld, k;
  int first, step, whole;  ///< whole: turns all of whose rows exist
  T beta;
  int lane, rest_row, group, at_n;
  bool adds, stores, has_last;  ///< beta B; and whether this lane has units, and a last one
  ptx::SharedAddress kept;      ///< where rows leave from, if that is shared memory
  /// This lane's first unit of its first row; or its first 16 bytes, if all its warp's rows are one range.
  T* out = b + first * ld + (W::direct ? group * ld + at_n * unit_n : rows_b == Rows::flat ? lane * unit_n : 0);

  /// Stores a turn's sums, and those of the rest.
  template <class Tile, class Rest>
  __device__ void store(int turn, const Tile& tile, Rest& rest) {
    T sum[PR][TN];
    tile.get(sum);
    if constexpr (has_rest) rest.add_up();
    // From `out` to a lane's words of the rest, if it has a row.
    const auto rest_to = [&](std::int64_t ld) { return (rest_row - group) * ld + (along_n * TN - at_n * unit_n); };
    if constexpr (W::direct) {
      if (turn < whole && !adds) [[likely]] {
#pragma unroll
        for (int r = 0; r < PR; ++r) {
          T* const to = out + r * groups * ld;
#pragma unroll
          for (int j = 0; j < PN; ++j) {
            if (j < PN - 1 ? stores : has_last) store_unit(to + j * along_n * unit_n, &sum[r][j * unit_n]);
          }
        }
        if constexpr (has_rest) {
          T* const to = out + rest_to(ld);
#pragma unroll
          for (int col = 0; col < W::rest_columns; col += unit_n) {
            if (lane < rows) store_unit(to + col, &rest.sum[col][0][0]);
          }
        }
      } else {
#pragma unroll
        for (int r = 0; r < PR; ++r) {
          T* const to = out + r * groups * ld;
          const bool exists = first + static_cast<std::int64_t>(turn) * step + r * groups + group < k;
#pragma unroll
          for (int j = 0; j < PN; ++j) {
            // No break: nvcc would not write the loop out, and have the sums in memory.
            if (exists && (j < PN - 1 ? stores : has_last)) {
#pragma unroll
              for (int v = 0; v < unit_n; ++v) {
                T& result = sum[r][j * unit_n + v];
                if (adds) result = multiply_add(beta, to[j * along_n * unit_n + v], result);
              }
              store_unit(to + j * along_n * unit_n, &sum[r][j * unit_n]);
            }
          }
        }
        if constexpr (has_rest) {
          T* const to = out + rest_to(ld);
          const bool exists = lane < rows && first + static_cast<std::int64_t>(turn) * step + lane < k;
#pragma unroll
          for (int col = 0; col < W::rest_columns; col += unit_n) {
            if (exists) {
#pragma unroll
              for (int v = 0; v < unit_n; ++v) {
                T& result = rest.sum[col + v][0][0];
                if (adds) result = multiply_add(beta, to[col + v], result);
              }
              store_unit(to + col, &rest.sum[col][0][0]);
            }
          }
        }
      }
    } else {
      // Lanes side by side store words side by side.
      const ptx::SharedAddress to = kept + (group * N + at_n * unit_n) * element;
      const bool has_last_word = has_last && (at_n + (PN - 1) * along_n) * unit_n + unit_n <= N;
#pragma unroll
      for (int begin = 0; begin < PR; begin += together) {
        __syncwarp();  // nobody reads what was there before any more
#pragma unroll
        for (int r = 0; r < together; ++r) {
#pragma unroll
          for (int j = 0; j < TN; ++j) {
            const bool has = j < TN - unit_n ? stores : j < TN - 1 ? has_last : has_last_word;
            if (has)
              ptx::store_shared(to + (r * groups * N + j / unit_n * along_n * unit_n + j % unit_n) * element,
                                sum[begin + r][j]);
          }
        }
        if constexpr (has_rest) {
          const int row = lane - begin * groups;
          if (lane < rows && row >= 0 && row < together * groups) {
#pragma unroll
            for (int col = 0; col < W::rest_columns; ++col)
              ptx::store_shared(kept + (row * N + along_n * TN + col) * element, rest.sum[col][0][0]);
          }
        }
        __syncwarp();
        const std::int64_t row = first + static_cast<std::int64_t>(turn) * step + begin * groups;  // the first one
        if (is_range && kept_words % 2 == 0 && turn < whole && !adds) [[likely]] {
          constexpr int pieces = kept_words / 2, count = ceil_div(pieces, 32);
          if constexpr (rows_b == Rows::flat && element == 8) {
            T piece[count][2];
#pragma unroll
            for (int i = 0; i < count; ++i) {
              if (i < pieces / 32 || lane + i * 32 < pieces) load_unit<2>(piece[i], kept + lane * 16 + i * 32 * 16);
            }
#pragma unroll
            for (int i = 0; i < count; ++i) {
              if (i < pieces / 32 || lane + i * 32 < pieces) store_unit(out + begin * groups * N + i * 64, piece[i]);
            }
          } else {
            store_pieces<pieces, rows_b == Rows::displaced>(reinterpret_cast<double2*>(b + row * ld), lane,
                                                            [&](int i) { return kept + i * 16; });
          }
        } else {
          constexpr int all = together * groups;
          store_rows<T, N, all>(b + row * ld, ld, k - row < all ? static_cast<int>(k - row) : all, lane, beta, adds,
                                [&](int its) { return kept + its * (N * element); });
        }
      }
    }
    out += step * ld;
  }
};

}  // namespace gemm::generated

// A warp's rows of B in tsm/13: which columns a lane has, C in shared memory for them, and rows of A and C in registers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/places.cuh"
#include "tsm/generated/stream.cuh"

namespace gemm::generated {

/// Whether rows of B leave from registers, 16 bytes at a time; or else through shared memory. Without gaps they do so
/// for whole sectors of 32 bytes. Long rows have few others.
__host__ __device__ constexpr bool stored_directly(int n, int element_bytes, Rows how) {
  const int bytes = n * element_bytes;
  if (bytes % 16 != 0 || how == Rows::displaced) return false;
  if (how == Rows::flat) return bytes % 32 == 0 || bytes > 512;
  return how == Rows::wide || element_bytes == 16;
}
/// Rows of each thread, of so many words of 8 bytes, that go through shared memory together: a warp's are then a whole
/// number of 16-byte pieces, if there are as many, and no more than 4 KB if that is possible.
__host__ __device__ constexpr int rows_together(int words_of_row, int groups, int rows_of_thread) {
  int best = 0;
  for (int together = 1; together <= rows_of_thread; ++together) {
    if (rows_of_thread % together != 0) continue;
    const int words = together * groups * words_of_row;
    if (best == 0 || (best * groups * words_of_row % 2 != 0 && words % 2 == 0) || (words % 2 == 0 && words <= 512))
      best = together;
  }
  return best;
}
/// Bytes of a row of C in shared memory, with zeros behind its columns. For three products the sums of real and
/// imaginary parts lie behind the units, those of a lane's units j and j + 1 side by side (j even): they are the same
/// for all rows of A, and a load of two costs less than two additions.
__host__ __device__ constexpr int bytes_of_c_row(int along_n, int units, int products) {
  return along_n * (units + (products == 3 ? ceil_div(units, 2) : 0)) * 16;
}

/// along_n lanes of a warp have PR rows of B in each of `groups` groups. A lane has PN units of 16 bytes of its rows,
/// every along_n-th one; what is left over then is the rest, if there is one (rest_columns.cuh).
template <class T, int N, int PR, int along_n, int products, Rows rows_b, bool has_rest>
struct WarpTile {
  static constexpr int element = sizeof(T), unit_n = 16 / element, units_n = ceil_div(N, unit_n),
                       PN = has_rest ? N / unit_n / along_n : ceil_div(units_n, along_n), TN = PN * unit_n,
                       rest_columns = has_rest ? N - along_n * TN : 0, row_c = bytes_of_c_row(along_n, PN, products);
  __host__ __device__ static constexpr Places places() { return places_of_warp(along_n); }
  static constexpr int groups = places_of_warp(along_n).along_m, rows = groups * PR;
  static constexpr bool direct = stored_directly(N, element, rows_b);
  static constexpr int words = N * (element / 8), together = direct ? 1 : rows_together(words, groups, PR),
                       kept_words = together * groups * words,
                       kept_bytes =
                           direct ? 0 : ceil_div(kept_words, 2) * 16;  // of rows that leave through shared memory
  static_assert(along_n <= 32 && along_n <= units_n && (!has_rest || (PN >= 1 && rest_columns >= 1)));

  /// Stores alpha C, all but the rest of its columns. All threads of the block must call it.
  template <int M, int threads>
  __device__ static void store_c(unsigned char* to, const T* c, std::int64_t ldc, T alpha) {
    for (int i = threadIdx.x; i < M * along_n * TN; i += threads) {
      const int row = i / (along_n * TN), col = i % (along_n * TN);
      const T word = col < N ? multiply_add(alpha, c[row * ldc + col], T{}) : T{};
      if constexpr (products == 3) {
        unsigned char* const to_row = to + row * row_c;
        const int j = col / along_n, at = col % along_n;
        reinterpret_cast<T*>(to_row)[col] = word;
        reinterpret_cast<double*>(to_row + along_n * PN * 16)[(j / 2 * along_n + at) * 2 + j % 2] = word.x + word.y;
      } else {
        reinterpret_cast<T*>(to)[i] = word;
      }
    }
  }

  /// A lane's units of a row of C; and of three products the sums of their parts.
  __device__ static void read_c(T (&y)[TN], ptx::SharedAddress at) {
#pragma unroll
    for (int j = 0; j < PN; ++j) load_unit<unit_n>(&y[j * unit_n], at + j * (along_n * 16));
  }
  __device__ static void read_sums_of_c(double (&y)[TN], ptx::SharedAddress at) {
    if constexpr (products == 3) {
#pragma unroll
      for (int j = 0; j < PN; j += 2) {
        const ptx::SharedAddress its = at + (PN + j / 2) * (along_n * 16);
        if (j + 1 < PN)
          load_unit<2>(&y[j], its);
        else
          load_unit<1>(&y[j], its);
      }
    }
  }
  template <class U, int count>
  __device__ static void copy(U (&to)[count], const U (&from)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) to[i] = from[i];
  }
  template <int unit>
  __device__ static void copy(T (&to)[PR][unit], const T (&from)[PR][unit]) {
#pragma unroll
    for (int r = 0; r < PR; ++r) copy(to[r], from[r]);
  }
  /// A unit of A of each of a lane's rows, `stride` bytes apart.
  template <int unit>
  __device__ static void read_a(T (&x)[PR][unit], ptx::SharedAddress at, int stride) {
#pragma unroll
    for (int r = 0; r < PR; ++r) load_unit<unit>(&x[r][0], at + r * stride);
  }
};

}  // namespace gemm::generated

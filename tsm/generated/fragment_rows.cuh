// C and B of tsm/13c in fragments: C comes to shared memory in the order in which instructions read it, and rows of B
// leave from the sums of a warp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/chunks.cuh"
#include "tsm/generated/row_stores.cuh"

namespace gemm::generated {

/// Bytes of a warp's stage: so many rows of A, and then of B.
__host__ __device__ constexpr int bytes_of_tensor_stage(int m, int n, int element_bytes, int rows) {
  const auto of = [&](int width) {
    const int chunk = rows / 4 * width * element_bytes;
    return 3 * chunk_stride(chunk, 4 * element_bytes) + chunk;
  };
  return ceil_div(of(m > n ? m : n), 128) * 128;
}
/// Of C: what is loaded so soon that blocks may live shortly.
inline constexpr int most_bytes_of_narrow_c = 4608;
/// Bytes of C: fragments of 4 x 8, as far as it reaches into them.
__host__ __device__ constexpr int bytes_of_c_fragments(int m, int n, int element_bytes) {
  return ceil_div(m, 4) * ceil_div(n, 8) * 32 * element_bytes;
}

/// A warp's 16 PR rows of B, all columns of them. FromA: the copies of A's rows, which lie in chunks as these rows do.
/// alone: a warp has its scheduler for itself. one_stage: no rows of A are on their way until these rows have left.
template <class T, int N, int PR, Rows rows_b, bool alone, bool one_stage, class FromA>
struct FragmentRows {
  static constexpr int element = sizeof(T), parts = parts_of<T>, rows = 16 * PR, FN = ceil_div(N, 8);
  static constexpr bool whole_sectors = N * element % 32 == 0;
  /// Whether rows leave from registers, 64 bytes of four lanes at a time: padded ones of double, if they are whole sectors
  /// of 32 bytes; complex ones if a warp is alone, since nobody works then while it stores twice, and whole sectors without
  /// padding if there is one stage. Others leave through shared memory, 512 bytes side by side at a time, which memory
  /// takes faster.
  static constexpr bool direct = parts == 1 ? whole_sectors && rows_b == Rows::wide
                                            : alone || (one_stage && whole_sectors && rows_b == Rows::flat);
  /// A lane has columns 2t and 2t + 1 of a fragment. Which columns of C these are is free: two neighbours of double, if
  /// they leave together; else t and t + 4, so that lanes side by side have results side by side.
  static constexpr bool neighbours = parts == 1 && direct;
  __device__ static int column(int j, int its) { return j * 8 + (neighbours ? its : its / 2 + its % 2 * 4); }

  int g, t;  ///< of lane 4 g + t

  /// Stores alpha C, and zeros behind it. All threads of the block must call it.
  template <int M, int threads>
  __device__ static void store_c(T* to, const T* c, std::int64_t ldc, T alpha) {
    constexpr int all = ceil_div(M, 4) * FN * 32, count = ceil_div(all, threads), together = smaller(count, 8);
#pragma unroll 1
    for (int begin = threadIdx.x; begin < all; begin += together * threads) {
      T word[together] = {};
#pragma unroll
      for (int u = 0; u < together; ++u) {
        const int i = begin + u * threads, row = i / (FN * 32) * 4 + i % 4, col = column(i / 32 % FN, i % 32 / 4);
        if (row < M && col < N) word[u] = multiply_add(alpha, c[row * ldc + col], T{});
      }
#pragma unroll
      for (int u = 0; u < together; ++u) {
        const int i = begin + u * threads;
        if (i < all) to[i] = word[u];
      }
    }
  }

  /// Of a chunk: bytes of a row, of all its rows, and to the next chunk; pieces of 16 bytes.
  static constexpr int row_bytes = N * element, chunk = rows / 4 * row_bytes, stride = chunk_stride(chunk, 4 * element),
                       pieces = chunk / 16;

  /// Stores the sums as rows of B where rows of A have been, in four chunks as these. From there lanes side by side store
  /// words side by side.
  __device__ void store_to_stage(ptx::SharedAddress stage, const double (&sum)[parts * PR * FN][4]) const {
#pragma unroll
    for (int i = 0; i < PR; ++i) {
#pragma unroll
      for (int j = 0; j < FN; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int col = column(j, 2 * t + e % 2);
          if (j < N / 8 || col < N)
            ptx::store_shared(stage + g % 4 * stride + row_of_chunk(i, e) * row_bytes + col * element,
                              value(sum, i, j, e));
        }
      }
    }
  }
  /// Where they are then.
  __device__ static ptx::SharedAddress row_in_stage(ptx::SharedAddress stage, int row) {
    return FromA::is_in_one ? stage + row / (rows / 4) * stride + row % (rows / 4) * row_bytes
                            : stage + row % 4 * stride + row / 4 * row_bytes;
  }

  /// Of element e of the fragments of the i-th 16 rows: its row, and its value in the j-th fragment.
  __device__ int row_of(int i, int e) const {
    return FromA::row_of(g % 4, row_of_chunk(i, e));
  }
  __device__ static T value(const double (&sum)[parts * PR * FN][4], int i, int j, int e) {
    if constexpr (parts == 2)
      return make_double2(sum[i * FN + j][e], sum[PR * FN + i * FN + j][e]);
    else
      return sum[i * FN + j][e];
  }

 private:
  __device__ int row_of_chunk(int i, int e) const {
    return i * 4 + e / 2 * 2 + g / 4;
  }
};

}  // namespace gemm::generated

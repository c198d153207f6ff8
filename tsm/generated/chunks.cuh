// Rows of a tall matrix in shared memory for Tensor Cores: a stage of rows in four chunks, so placed that the lanes of a
// warp read elements of four rows, or of eight, from different banks, whatever the width.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/ptx.cuh"
#include "tsm/generated/slices.cuh"
#include "tsm/generated/stream.cuh"

namespace gemm::generated {

/// Bytes from the beginning of a chunk of so many bytes to that of the next: `apart` modulo 128, which are all banks.
__host__ __device__ constexpr int chunk_stride(int chunk_bytes, int apart) {
  return ceil_div(chunk_bytes - apart, 128) * 128 + apart;
}

/// A thread's copies of stages of `rows` rows of W elements: the first fourth of them is chunk 0, and so on, each chunk
/// one range without padding, `apart` modulo 128 bytes from the one before. `threads` of them copy a stage together.
template <class T, int W, int rows, int apart, int threads, Rows how>
struct ChunkCopies {
  static constexpr int element = sizeof(T), row_bytes = W * element, chunk_rows = rows / 4,
                       chunk_bytes = chunk_rows * row_bytes, stride_of_chunk = chunk_stride(chunk_bytes, apart),
                       stage_bytes = ceil_div(4 * stride_of_chunk, 16) * 16;
  static_assert(rows % 4 == 0);
  /// The stage is one range in device memory, too, or else its rows are copied one by one.
  static constexpr bool in_one = how == Rows::flat && chunk_bytes % 16 == 0;
  static constexpr int piece = in_one || (how != Rows::any && row_bytes % 16 == 0) ? 16 : element;  // bytes
  static constexpr int pieces = (in_one ? chunk_bytes : row_bytes) / piece;  // of a chunk, or row
  static constexpr int all = pieces * (in_one ? 4 : rows), count = ceil_div(all, threads);
  static_assert(stride_of_chunk % piece == 0 && apart % 16 == 0);

  const char* from;      ///< the next stage
  std::int64_t row;      ///< bytes from a row to the next
  std::int64_t forward;  ///< from a stage to the next
  int thread;

  /// Stages from row `first` on, and then every `step` rows.
  __device__ ChunkCopies(const T* matrix, std::int64_t ld, std::int64_t first, std::int64_t step, int thread)
      : from(reinterpret_cast<const char*>(matrix + first * (how == Rows::flat ? W : ld))),
        row((how == Rows::flat ? W : ld) * element),
        forward(step * row),
        thread(thread) {}

  /// Starts the copies of the next stage, of which so many rows exist, at least one; zeros for the others.
  __device__ void start(ptx::SharedAddress stage, int existing) const {
    if (existing >= rows)
      start_all(stage, [](int) { return piece; });
    else
      start_all(stage, [&](int p) {
        const int left = in_one ? existing * row_bytes - p * 16 : p / pieces < existing ? piece : 0;
        return left < 0 ? 0 : smaller(left, piece);
      });
  }
  __device__ void next() { from += forward; }

 private:
  template <class Bytes>
  __device__ void start_all(ptx::SharedAddress stage, Bytes bytes) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int p = thread + i * threads;
      if (all % threads != 0 && i == count - 1 && p >= all) break;
      const int line = p / pieces, at = p % pieces * piece;  // of chunks or rows
      const int to = in_one ? line * stride_of_chunk + at
                            : line / chunk_rows * stride_of_chunk + line % chunk_rows * row_bytes + at;
      const int wanted = bytes(p);
      // A source is needed in any case: else the stage's first row.
      const char* const source = wanted == 0 ? from : in_one ? from + p * 16 : from + line * row + at;
      if constexpr (piece == 16)
        ptx::cp_async_cg(stage + to, source, wanted);
      else
        ptx::cp_async_ca<piece>(stage + to, source, wanted);
    }
  }
};

/// An element of T as operands of real Tensor Cores.
template <class T>
struct Operand;
template <>
struct Operand<double> {
  double re;
  __device__ void load(ptx::SharedAddress from) { ptx::load_shared(re, from); }
};
template <>
struct Operand<double2> {
  double re, im;
  __device__ void load(ptx::SharedAddress from) { ptx::load_shared(re, im, from); }
};

/// Real numbers in one of T. Sums are fragments of 16 x 8 elements of C, of the real parts and then of the imaginary ones:
/// elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1) of lane 4 g + t.
template <class T>
inline constexpr int parts_of = sizeof(T) / sizeof(double);

/// Adds the product of a[2 i], a[2 i + 1], 16 rows of the left matrix, with b[j], 8 columns of the right one, four terms
/// of it, to fragment i FN + j; `conjugate`: of the left one. By one product of real numbers, or four.
template <bool conjugate, int FM, int FN>
__device__ void multiply_fragments(const Operand<double> (&a)[2 * FM], const Operand<double> (&b)[FN],
                                   double (&sum)[FM * FN][4]) {
#pragma unroll
  for (int i = 0; i < FM; ++i) {
    const double left[2] = {a[2 * i].re, a[2 * i + 1].re};
#pragma unroll
    for (int j = 0; j < FN; ++j) {
      const double right[1] = {b[j].re};
      ptx::mma_m16n8k4_f64(sum[i * FN + j], left, right, sum[i * FN + j]);
    }
  }
}
template <bool conjugate, int FM, int FN>
__device__ void multiply_fragments(const Operand<double2> (&a)[2 * FM], const Operand<double2> (&b)[FN],
                                   double (&sum)[2 * FM * FN][4]) {
#pragma unroll
  for (int i = 0; i < FM; ++i) {
    const Operand<double2>&x = a[2 * i], &y = a[2 * i + 1];
    const double re[2] = {x.re, y.re}, im[2] = {x.im, y.im}, minus[2] = {-x.im, -y.im};
    const auto add = [&](int j, int part, const double(&left)[2], double right) {
      const double one[1] = {right};
      double(&its)[4] = sum[part * FM * FN + i * FN + j];
      ptx::mma_m16n8k4_f64(its, left, one, its);
    };
    // What goes to the same sums stands apart.
#pragma unroll
    for (int j = 0; j < FN; ++j) {
      add(j, 0, re, b[j].re);
      add(j, 1, re, b[j].im);
    }
#pragma unroll
    for (int j = 0; j < FN; ++j) {
      add(j, 0, conjugate ? im : minus, b[j].im);
      add(j, 1, conjugate ? minus : im, b[j].re);
    }
  }
}

}  // namespace gemm::generated
